# over red facts without a reason, or with a blank one: refused, nothing changes
. "$(dirname "$0")/../lib.sh"
skipped_alpha; refused accept "$ID" alpha; refused accept "$ID" alpha --reason ''; refused accept "$ID" alpha --reason '  
 '; never alpha; [ "$(tip)" = none ] || no 'a branch appeared'
ok
