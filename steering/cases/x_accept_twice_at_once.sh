# accept twice at once, with the head moved: one commit
. "$(dirname "$0")/../lib.sh"
landed_between; bg one accept "$ID" alpha --reason 'one of two'; bg two accept "$ID" alpha --reason 'one of two'
joined one; a=$RC; joined two; [ $a = 0 ] || [ $RC = 0 ] || no "both were refused: $(said)"
release gamma; wait_story alpha passed; done_with gamma passed; by_person alpha 'one of two'; [ "$(n_events story.pass alpha)" = 1 ] || no 'two story.pass events'
ok
