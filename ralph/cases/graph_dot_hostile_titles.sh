#!/usr/bin/env bash
# what: titles with quotes, backslashes, newlines, HTML, control characters and 20,000 letters give well-formed dot: every node once, every edge once
# from: "task graph --format text|dot|mermaid"
# sure: yes (well-formed)
. "$(dirname "$0")/lib.sh"
scene 1; long=$(printf 'L%.0s' $(seq 20000))
{ printf 'nodes:\n'; i=0; for t in 'say "hi"; } subgraph x {' 'back\slash \" end\' $'two\nlines' '<b>bold</b><script>alert(1)</script>' $'esc\x1b[31mred\x07' "$long" 'label=x]; T-001 -> T-007; //' '" shape=egg URL="file:///etc/passwd'; do i=$((i+1)); printf '  - id: T-%03d\n    title: %s\n    description: d\n    priority: 1\n    status: ready\n' $i "$(printf %s "$t" | jq -Rs .)"; done; printf 'edges:\n  - from: T-001\n    to: T-002\n'; } >task-graph.yaml
lw task graph --format dot; rc_is "graph dot" 0; grep -qE '^ *(strict )?digraph' "$LAST_OUT" || fail "no digraph"
perl -0777 -e '$_=<>; die "control\n" if /[\x00-\x08\x0b-\x1f]/; s/"(?:[^"\\]|\\.)*"/Q/gs; s{//[^\n]*}{}g; die "stray quote\n" if /"/; die "braces\n" unless tr/{// == tr/}//; my $e = () = /->/g; die "edges $e\n" unless $e == 1; die "raw text outside quotes\n" if /script|passwd|egg/' "$LAST_OUT" 2>"$SCENE/io/perl" || fail "dot is not well-formed: $(cat "$SCENE/io/perl")"
if command -v dot >/dev/null; then timeout 20 dot -Tcanon "$LAST_OUT" >/dev/null 2>"$SCENE/io/dot" || fail "dot refuses it: $(head -c 200 "$SCENE/io/dot")"; else note "no dot here"; fi
pass
