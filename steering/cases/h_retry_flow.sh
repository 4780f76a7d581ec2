# retry with another flow: solo has no judge, and says so in its trailer
. "$(dirname "$0")/../lib.sh"
skipped_alpha; j=$(grep -c . "$T/judged"); ctl alpha.mode good
must retry "$ID" alpha --flow solo
done_with alpha passed; once alpha
[ "$(grep -c . "$T/judged")" = "$j" ] || no 'a judge was asked in solo'
trailer "$(commits_of alpha)" Verified | grep -q checks-only || no 'no trailer Verified: checks-only'
ok
