#!/usr/bin/env bash
# what: comments, unknown keys, key order, quotes, odd indents, blank lines, long strings, anchors: only the state of that one node changes
# from: "get the state written back …"; design §8 "keeps unknown keys, key order and formatting"
# sure: yes (beside the status line, fields of state such as claimed_at or completed_at may come)
. "$(dirname "$0")/lib.sh"
scene 1; cat >task-graph.yaml <<'Y'
# A comment at the top: status: ready
version: '1.0'   # quoted with one tick
x-owner: {team: "alpha", list: [1,  2,3]}

milestones:
- {id: M1, title: "One: the first", status: pending}
stories: []
nodes:
    # tasks are indented by four
    - title: "status: ready is part of this title"   # trailing
      id:   T-001
      zeta: 1
      status:   ready      # keep this remark
      priority: 1
      description: |
        Do it. (own:T-001:nwo)
          status: ready

        - id: T-002
          status: ready
      alpha: &anchor [a, b]
    - id: "T-002"
      priority: 2
      alpha: *anchor
      description: >-
        folded (own:T-002:nwo)
        text
      status: "pending"
      émoji: "🚀 \u00e9"
edges:
    - {from: T-001, to: T-002}


# the end, two blank lines before
Y
cp task-graph.yaml "$SCENE/g0"
strip() { grep -vE '^ *(claimed_at|claimed_by|completed_at|assignee|started_at|updated_at):' "$1" | sed -E 's/^( *status:) +("?)(ready|in-progress|in_progress|complete|pending)("?)(.*)$/\1 X\5/'; }
check() { diff <(strip "$SCENE/g0") <(strip task-graph.yaml) >"$SCENE/io/d" || fail "$1 changed more than state: $(head -n 6 "$SCENE/io/d" | tr '\n' '|')"; [ "$(grep -c 'keep this remark' task-graph.yaml)" = 1 ] || fail "$1 lost a remark"; sed -n '/description: |/,/alpha: &/p' task-graph.yaml | diff - <(sed -n '/description: |/,/alpha: &/p' "$SCENE/g0") >/dev/null || fail "$1 wrote into the description"; }
lw task claim T-001; rc_is claim 0; check claim
lw task complete T-001; rc_is complete 0; check complete; grep -qE '^      status: +complete' task-graph.yaml || fail "T-001's own status line is not complete: $(grep -n status: task-graph.yaml | tr '\n' '|')"
lw task claim T-002; rc_is "claim of the second" 0; check "claim of T-002"; lw task release T-002; check release; lw task reset T-001; check reset
pass
