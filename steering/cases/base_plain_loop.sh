# Today's binary: a plain loop completes.
. "$(dirname "$0")/../lib.sh"
project_with alpha beta:alpha; start; done_with beta passed
once alpha; once beta; [ "$(prd beta passes)" = True ] || no 'PRD not written'
ok
