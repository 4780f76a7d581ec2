# skip after the end of what is skipped already: refused or nothing to do; nothing changes; a blocked one does not land either
. "$(dirname "$0")/../lib.sh"
skipped_alpha alpha beta:alpha; s=$(snap | grep -v '^agent/'); lw skip "$ID" alpha; sleep 1.5; wait_over
[ "$(snap | grep -v '^agent/')" = "$s" ] || no 'something changed'
lw skip "$ID" beta; sleep 1.5; wait_over; never beta; [ "$(n_events story.fail alpha)" = 1 ] || no 'story.fail of alpha twice'
ok
