#!/usr/bin/env bash
# what: the verbs work over a prd.json (passes) and a Markdown plan (boxes); only that field, that one character changes
# from: "or any plan that the reader takes"
# sure: yes (that they work); the flag that names the plan is GRAPH_FLAG of lib.sh: no
. "$(dirname "$0")/lib.sh"
REPO="$SCENE/repo"; repo_new "$REPO"; cd "$REPO"
printf '{\n  "title": "P",\n  "description": "d",\n  "stories": [\n    { "id": "US-001", "title": "A", "description": "(own:US-001:nwo)", "acceptance_criteria": ["x"], "priority": 1, "passes": false, "odd": [1,2] },\n    { "id": "US-002", "title": "B", "description": "(own:US-002:nwo)", "acceptance_criteria": ["y"], "priority": 2, "passes": false, "depends_on": ["US-001"] }\n  ]\n}\n' >prd.json; cp prd.json "$SCENE/p0"
lw task next $GRAPH_FLAG prd.json; rc_is "next over prd.json" 0; out_has own:US-001 "the prompt"
lw task claim US-001 $GRAPH_FLAG prd.json; rc_is claim 0; lw task complete US-001 $GRAPH_FLAG prd.json; rc_is complete 0
jq -e '.stories[0].passes == true and .stories[1].passes == false' prd.json >/dev/null || fail "passes is not true in prd.json"
diff <(sed '0,/"passes": false/s//"passes": true/' "$SCENE/p0") prd.json >/dev/null || fail "more than passes changed: $(diff "$SCENE/p0" prd.json | head -n 4 | tr '\n' '|')"
printf '# Plan\n\n## Phase 1\n\n- [ ] T001 first thing (own:T001:nwo)\n- [ ] T002 second thing (own:T002:nwo)\n' >tasks.md
lw task next $GRAPH_FLAG tasks.md; rc_is "next over a Markdown plan" 0; lw task status $GRAPH_FLAG tasks.md; rc_is "status over a Markdown plan" 0
pass
