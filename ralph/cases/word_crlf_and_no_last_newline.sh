#!/usr/bin/env bash
# what: CRLF line ends, a missing last newline and a BOM stay as they are
# from: round trip without loss
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001 ready; node T-002 ready; G_EDGES=; graph_text | sed 's/$/\r/' | head -c -2 >task-graph.yaml; lines=$(wc -l <task-graph.yaml)
lw task claim T-001; rc_is "claim in a CRLF file" 0; lw task complete T-001; rc_is "complete in a CRLF file" 0
! grep -qvP '\r$' <(head -n "$(wc -l <task-graph.yaml)" task-graph.yaml) || fail "a line without CR: $(grep -nvP '\r$' task-graph.yaml | head -n 2)"
[ "$(tail -c1 task-graph.yaml | xxd -p 2>/dev/null || tail -c1 task-graph.yaml | od -An -tx1 | tr -d ' ')" != 0a ] || fail "a last newline was added"
w=$(word_of task-graph.yaml T-001); [ "$w" = complete ] || fail "T-001 stands as '$w'"
{ printf '\xef\xbb\xbf'; graph_text; } >task-graph.yaml; lw task claim T-002; rc_is "claim in a file with BOM" 0; [ "$(head -c3 task-graph.yaml | od -An -tx1 | tr -d ' ')" = efbbbf ] || fail "the BOM is gone"
pass
