#!/usr/bin/env bash
# what: the verbs over the folder itself; complete writes `status: complete` into that ticket's front matter and nothing else, although the body has lines that look like it
# from: "over a `task-graph.yaml`, a folder of tickets"
# sure: yes (flag: GRAPH_FLAG)
. "$(dirname "$0")/lib.sh"
REPO="$SCENE/repo"; repo_new "$REPO"; cd "$REPO"; D=docs/active/tickets; ticket $D T-001 ready 'x-note: "status: ready"'; printf '\n---\nid: T-666\nstatus: ready\n---\n```yaml\nstatus: ready\n```\n' >>$D/T-001.md; ticket $D T-002 pending 'depends_on: [T-001]'; commit_all .; cp $D/T-001.md "$SCENE/t1"; cp $D/T-002.md "$SCENE/t2"
lw task next $GRAPH_FLAG $D; rc_is "next over a folder" 0; [ "$(token_of "$LAST_OUT")" = T-001 ] || fail "'$(token_of "$LAST_OUT")' is offered"; same_file "$SCENE/t1" $D/T-001.md
lw task claim T-001 $GRAPH_FLAG $D; rc_is claim 0; lw task complete T-001 $GRAPH_FLAG $D; rc_is complete 0
f='^(claimed_at|claimed_by|completed_at|assignee|updated):'; diff <(grep -vE "$f" $D/T-001.md) <(sed '0,/^status: ready$/s//status: complete/' "$SCENE/t1") >"$SCENE/io/d" || fail "the ticket changed otherwise: $(head -n 5 "$SCENE/io/d" | tr '\n' '|')"
same_file "$SCENE/t2" $D/T-002.md; lw task next $GRAPH_FLAG $D; [ "$(token_of "$LAST_OUT")" = T-002 ] || fail "then '$(token_of "$LAST_OUT")' is offered"
pass
