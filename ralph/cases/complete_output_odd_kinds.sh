#!/usr/bin/env bash
# what: hostile: output is a FIFO (must not hang), or lies outside by `../`, by an absolute path
# from: "must exist and not be empty"
# sure: no (FIFO must not hang: yes; outside paths: no)
. "$(dirname "$0")/lib.sh"
scene 1; echo x >"$SCENE/outside"; graph_new; node T-001 ready 1 'output: pipe'; node T-002 ready 1 'output: ../outside'; node T-003 ready 1 'output: /etc/hostname'; graph_write; commit_all .
mkfifo pipe; lw task claim T-001; LW_TIMEOUT=10 lw task complete T-001; refused "a FIFO as output"
lw task claim T-002; lw task complete T-002; refused "an output above the repository"
lw task claim T-003; lw task complete T-003; refused "an output by absolute path"
pass
