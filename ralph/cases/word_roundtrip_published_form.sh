#!/usr/bin/env bash
# what: a graph of the published form (milestones, stories, nodes with assignee, output, path, completed_at; edges; meta): claim and release give back the same bytes; complete changes only state, counts and dates
# from: "Round trip of the published example graph … without loss"
# sure: yes (release restores the bytes: no, meta and last_updated may be kept in step)
. "$(dirname "$0")/lib.sh"
scene 1; cat >task-graph.yaml <<'Y'
version: "1.0"
last_updated: "2026-02-05"
milestones:
  - id: M1
    title: Introspection
    description: just dag-status shows real data
    status: complete
stories: []
nodes:
  - id: T-024-01
    title: Verify the stack works end-to-end
    story: S-024
    description: Clean rebuild; the word complete stands here. (own:T-024-01:nwo)
    priority: 1
    complexity: S
    status: complete
    assignee: null
    completed_at: "2026-02-05T08:17:36.832Z"
    path: docs/active/tickets/T-024-01-verify.md
  - id: T-024-02
    title: Create the client module
    story: S-024
    milestone: M1
    description: A single place, 10°F warmer, `code` and "quotes". (own:T-024-02:nwo)
    priority: 1
    complexity: M
    status: ready
    assignee: null
    path: docs/active/tickets/T-024-02-client.md
  - id: T-024-03
    title: Migrate the calls
    story: S-024
    description: Later. (own:T-024-03:nwo)
    priority: 2
    complexity: M
    status: pending
    assignee: null
edges:
  - from: T-024-01
    to: T-024-02
  - from: T-024-02
    to: T-024-03
meta:
  total_stories: 0
  total_tasks: 3
  total_milestones: 1
  by_status:
    ready: 1
    pending: 1
    in_progress: 0
    complete: 1
    blocked: 0
  by_priority:
    "1": 2
    "2": 1
  by_milestone: {}
Y
cp task-graph.yaml "$SCENE/g0"; state='^(last_updated:|    (status|assignee|claimed_at|claimed_by|completed_at):|    (ready|pending|in_progress|complete|blocked): [0-9]+$)'
offered; [ "$OFFER" = T-024-02 ] || fail "'$OFFER' is offered"; same_file "$SCENE/g0" task-graph.yaml
lw task claim T-024-02; rc_is claim 0; lw task release T-024-02; rc_is release 0
diff <(grep -vE '^last_updated:' "$SCENE/g0") <(grep -vE '^last_updated:' task-graph.yaml) >"$SCENE/io/d" || fail "claim and release left a difference: $(grep '^[<>]' "$SCENE/io/d" | head -n 4 | tr '\n' '|')"
lw task claim T-024-02; lw task complete T-024-02; rc_is complete 0
diff <(grep -vE "$state" "$SCENE/g0") <(grep -vE "$state" task-graph.yaml) >/dev/null || fail "complete changed more than state: $(diff "$SCENE/g0" task-graph.yaml | grep '^[<>]' | head -n 6 | tr '\n' '|')"
[ "$(word_of task-graph.yaml T-024-02)" = complete ] || fail "not complete in the file"; grep -q 'completed_at: "2026-02-05T08:17:36.832Z"' task-graph.yaml || fail "another task's completed_at was touched"
offered; [ "$OFFER" = T-024-03 ] || fail "then '$OFFER' is offered"
pass
