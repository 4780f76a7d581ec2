#!/usr/bin/env bash
# what: the same titles in mermaid: each node on one line, no raw quote, bracket, HTML or `-->` of a title gets out of its label; ids with odd characters stay one node
# from: "task graph --format … mermaid"
# sure: yes (no raw script tag, no extra edge); the escaping chosen: no
. "$(dirname "$0")/lib.sh"
scene 1; { printf 'nodes:\n'; i=0; for t in 'say "hi"' 'a] --> T-003[b' $'two\nlines' '<script>alert(1)</script>' 'end' '%%{init: {"securityLevel":"loose"}}%%' 'click T-001 "javascript:alert(1)"'; do i=$((i+1)); printf '  - id: T-%03d\n    title: %s\n    description: d\n    priority: 1\n    status: ready\n' $i "$(printf %s "$t" | jq -Rs .)"; done; printf 'edges:\n  - from: T-001\n    to: T-002\n'; } >task-graph.yaml
lw task graph --format mermaid; rc_is "graph mermaid" 0; grep -qE '^ *(graph|flowchart) ' "$LAST_OUT" || fail "no graph line"
! grep -q '<script' "$LAST_OUT" || fail "a raw script tag"; ! grep -qE '^lines' "$LAST_OUT" || fail "a title broke the line"; ! grep -qE '^ *click ' "$LAST_OUT" || fail "a title became a click directive"; ! grep -qE '^ *%%\{' "$LAST_OUT" || fail "a title became an init directive"
n=$(sed 's/"[^"]*"//g' "$LAST_OUT" | grep -c -- '-->'); [ "$n" = 1 ] || fail "$n edges outside of labels"
pass
