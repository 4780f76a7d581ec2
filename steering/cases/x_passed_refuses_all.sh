# all four verbs on a story that has passed: refused, nothing changes (loop under way, and after its end)
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; hold beta; start; wait_story alpha passed; wait_call 'beta 1 implement'
for v in retry skip accept take; do refused $v "$ID" alpha; done; refused accept "$ID" alpha --reason again
release beta; done_with beta passed
for v in retry skip accept take; do refused $v "$ID" alpha; done; once alpha
ok
