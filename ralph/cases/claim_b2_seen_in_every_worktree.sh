#!/usr/bin/env bash
# what: a claim in one worktree holds in another one and in the main checkout; next offers another task there
# from: lessons B2
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2; A=$(worktree_new "$REPO" a); B=$(worktree_new "$REPO" b)
persona anna; persona bert
by anna "$A" task claim T-001; rc_is "claim in a" 0
by bert "$B" task claim T-001; refused "the same claim in b"; both_have 'T-001' "the refusal"
at "$B" offered; [ "$OFFER" = T-002 ] || fail "b is offered '$OFFER', not T-002"
offered; [ "$OFFER" = T-002 ] || fail "the main checkout is offered '$OFFER', not T-002"
state_of T-001; case $STATE in *progress* | claimed) ;; *) fail "main checkout says T-001 is '$STATE'" ;; esac
pass
