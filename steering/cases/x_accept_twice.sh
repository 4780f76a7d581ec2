# accept, then accept again: the second is refused or does nothing
. "$(dirname "$0")/../lib.sh"
skipped_alpha; must accept "$ID" alpha --reason 'first words'; done_with alpha passed; t=$(tip); lw accept "$ID" alpha --reason 'second words'; sleep 1.5; wait_over
[ "$(tip)" = "$t" ] || no 'the branch moved again'; by_person alpha 'first words'; [ "$(n_events story.pass alpha)" = 1 ] || no 'two story.pass events'
ok
