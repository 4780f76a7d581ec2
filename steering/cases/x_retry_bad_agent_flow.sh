# unknown agent, unknown flow: refused, nothing changes
. "$(dirname "$0")/../lib.sh"
skipped_alpha; refused retry "$ID" alpha --agent nobody; [ $RC = 2 ] || no "exit code $RC"
refused retry "$ID" alpha --flow nonsense; [ $RC = 2 ] || no "exit code $RC"
refused retry "$ID" alpha --agent ''; sleep 1; [ "$(n_calls 'alpha [0-9]+ implement')" = 1 ] || no 'an agent was started'
ok
