# after an accept over red facts, a story that breaks another test is still blamed
. "$(dirname "$0")/../lib.sh"
ALPHA=breaks project_with alpha beta:alpha; ctl alpha.mode breaks; ctl beta.do 'echo "echo ruined" >alpha.sh'; start; done_with alpha skipped
must accept "$ID" alpha --reason 'old may go'; done_with beta skipped; by_person alpha 'old may go'; never beta
ok
