#!/usr/bin/env bash
# what: the same ids in another repository (and in a clone of it) are other tasks
# from: "keyed by git's common directory"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; git clone -q "$REPO" "$SCENE/clone"; lw task claim T-001; rc_is "claim" 0
at "$SCENE/clone" offered; [ "$OFFER" = T-001 ] || fail "the clone sees the other repository's claim"
at "$SCENE/clone" lw task claim T-001; rc_is "claim in the clone" 0
pass
