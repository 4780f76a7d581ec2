# the four verbs are in the help, with the options that the issue names
. "$(dirname "$0")/../lib.sh"
ID=; for v in retry skip accept take; do
  "$LW" $v --help >"$T/help.$v" 2>"$T/err" </dev/null || no "$v --help: $(head -1 "$T/err")"
  "$LW" --help | grep -qE "^ +$v " || no "$v is not in --help"; done
for o in --hint --agent --flow; do grep -q -- $o "$T/help.retry" || no "retry has no $o"; done
grep -q -- --reason "$T/help.accept" || no 'accept has no --reason'
project_with alpha; for v in retry skip accept take; do lw $v; [ $RC = 2 ] || no "$v without arguments: exit code $RC"; done
ok
