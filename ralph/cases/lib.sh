# Shared helpers of the cases for issue 18. Sourced by every case; never run by itself.
# Everything that the issue does not fix by name stands in the block "what may have to be adapted".
set -u
: "${LOOPWRIGHT:?LOOPWRIGHT must be the path of the program}" "${SCENE:?SCENE must be an empty scratch folder}"
mkdir -p "$SCENE" && SCENE=$(cd "$SCENE" && pwd -P) || exit 1
case $LOOPWRIGHT in /*) ;; *) LOOPWRIGHT=$(cd "$(dirname "$LOOPWRIGHT")" && pwd -P)/$(basename "$LOOPWRIGHT") ;; esac
CASE=$(basename "$0" .sh)
export LOOPWRIGHT SCENE
export CASE18_TAG="case18-$CASE-$$-$RANDOM$RANDOM"   # marks every process that we start, so that we end only ours

# ---- what may have to be adapted --------------------------------------------------------------------------------------
# Where the program keeps its state (claim store, journal).
state_env() { export LOOPWRIGHT_STATE="$SCENE/state"; }
STATE_VARS="HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR LOOPWRIGHT_STATE"
# A shorter lease, if there is a setting for it (the issue names none). Cases that use it hold with and without it.
lease_env() { export LOOPWRIGHT_LEASE_SECS="$1"; }
# Sandbox of ralph. Cases named jail_* set this to (empty) and get the default jail.
SANDBOX_ARGS=(--sandbox host)
# How a plan other than ./task-graph.yaml is named to `task` and `ralph`.
GRAPH_FLAG=${GRAPH_FLAG:---prd}
# How a plain command is given as agent: prints one argument per line.
agent_args() { printf '%s\n' --agent "$1"; }
# How many seconds are written for --pause and --task-timeout.
secs() { printf '%s' "$1"; }
# Makes CMD (a shell line) the project's one known check (tests), in a way that a finder of checks should see.
project_check() { # DIR CMD
  printf '{\n  "name": "scene",\n  "version": "1.0.0",\n  "private": true,\n  "scripts": { "test": %s }\n}\n' "$(printf '%s' "$2" | jq -Rs .)" >"$1/package.json"
}
# Where the log and the heartbeat of a ralph lie that was started in DIR.
log_of() { printf '%s/logs/ralph.jsonl' "$1"; }
heartbeat_of() { printf '%s/logs/ralph.heartbeat' "$1"; }

# ---- isolation --------------------------------------------------------------------------------------------------------
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR WORKTREE ANTHROPIC_API_KEY OPENAI_API_KEY ANTHROPIC_BASE_URL CLAUDE_CODE_OAUTH_TOKEN
for v in $(env | sed -n 's/^\(LOOPWRIGHT_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
mkdir -p "$SCENE"/{home,config,data,xstate,cache,run,tmp,bin,io,live}; chmod 700 "$SCENE/run"
export HOME="$SCENE/home" XDG_CONFIG_HOME="$SCENE/config" XDG_DATA_HOME="$SCENE/data" XDG_STATE_HOME="$SCENE/xstate" \
  XDG_CACHE_HOME="$SCENE/cache" XDG_RUNTIME_DIR="$SCENE/run" TMPDIR="$SCENE/tmp" NO_COLOR=1 TERM=dumb LC_ALL=C.UTF-8 \
  GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL="$SCENE/home/.gitconfig" GIT_TERMINAL_PROMPT=0
state_env
printf '[user]\n\tname = Tester\n\temail = tester@example.invalid\n[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n[advice]\n\tdetachedHead = false\n' >"$GIT_CONFIG_GLOBAL"
# No real agent may ever start: these stand before the real ones and leave a trace.
for a in claude codex pi opencode gemini amp; do
  printf '#!/bin/sh\ncase " $* " in *" --version "*) echo 9.9.9; exit 0;; esac\necho "%s $*" >>"%s/poison"\ncat >/dev/null 2>&1\nexit 97\n' "$a" "$SCENE" >"$SCENE/bin/$a"
  chmod +x "$SCENE/bin/$a"
done
ln -sf "$LOOPWRIGHT" "$SCENE/bin/loopwright" 2>/dev/null
export PATH="$SCENE/bin:$PATH"
MARKS="$SCENE/marks"; : >"$MARKS"

# ---- end, watchdog, cleaning up ---------------------------------------------------------------------------------------
# How much slower than a quiet machine this one may be: what waits for something that must happen waits so much longer.
SLOW=${CASE_SLOW:-1}
LIMIT=$((56 * SLOW)); SECONDS=0; PIDS=(); N=0; OUT=; ERR=; RC=0; ENDED=
left() { local l=$((LIMIT - SECONDS)); [ "$l" -gt 1 ] || l=1; printf %s "$l"; }
ours() { # pids of living processes that carry our tag (or run one of our scripts), without this shell and its parents
  local f pid skip=" $$ $BASHPID ${WATCHDOG:-} " q=$$
  while q=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$q/status" 2>/dev/null) && [ -n "$q" ] && [ "$q" -gt 1 ]; do skip="$skip$q "; done
  # Two processes look at all others: one for each of them took half of a case's time.
  for f in $(grep -lszxF "CASE18_TAG=$CASE18_TAG" /proc/[0-9]*/environ 2>/dev/null; grep -lsaF "$SCENE/bin/" /proc/[0-9]*/cmdline 2>/dev/null); do
    pid=${f#/proc/} pid=${pid%/*}
    case $skip in *" $pid "*) continue ;; esac
    skip="$skip$pid "
    alive "$pid" && echo "$pid"
  done
}
cleanup() {
  exec 2>/dev/null
  local p round
  [ -n "${WATCHDOG:-}" ] && { kill -STOP "$WATCHDOG"; pkill_children "$WATCHDOG"; kill -KILL "$WATCHDOG"; }
  for p in "${PIDS[@]}"; do kill -CONT "$p"; kill -KILL "$p"; done
  for round in 1 2 3; do
    local list; list=$(ours); [ -n "$list" ] || break
    for p in $list; do kill -CONT "$p"; kill -KILL "$p"; done
    sleep 0.2
  done
  wait
}
pkill_children() { local c; for c in $(cat /proc/"$1"/task/"$1"/children 2>/dev/null); do kill -KILL "$c"; done; }
finish() { # LINE CODE
  [ -n "$ENDED" ] && return; ENDED=1; trap - EXIT; trap '' USR1
  if [ "$2" = 0 ] && grep -q '^OVERLAP' "$MARKS" 2>/dev/null; then set -- "FAIL: two agents worked on one task at the same time: $(grep -m1 '^OVERLAP' "$MARKS")" 1; fi
  if [ "$2" = 0 ] && [ -z "${POISON_OK:-}" ] && [ -s "$SCENE/poison" ]; then set -- "FAIL: an agent was started that nobody asked for: $(head -n1 "$SCENE/poison" | cut -c1-100)" 1; fi
  [ ! -e "$SCENE/io/not-jailed" ] || set -- "FAIL: the agent that should be jailed runs without a jail" 1
  cleanup; printf '%s\n' "$1"; exit "$2"
}
fail() {
  { echo "--- last call: rc=$RC"; printf 'stdout: %s\nstderr: %s\n' "$(printf %s "$OUT" | head -c 1500)" "$(printf %s "$ERR" | head -c 1500)"
    [ -s "$MARKS" ] && { echo '--- marks'; tail -n 25 "$MARKS"; }
    for l in "$SCENE"/*/logs/ralph.jsonl; do [ -s "$l" ] && { echo "--- $l"; tail -n 12 "$l"; }; done; } >&2 2>/dev/null
  finish "FAIL: $(printf %s "$*" | tr '\n' ' ')" 1
}
pass() { finish PASS 0; }
note() { printf 'NOTE: %s\n' "$*"; }
trap 'finish "FAIL: the case ended early (line $LINENO)" 1' EXIT
trap 'fail "the case took longer than $LIMIT s"' USR1
( exec >/dev/null 2>&1 </dev/null; trap - EXIT USR1; sleep "$LIMIT" && kill -USR1 $$ ) & WATCHDOG=$!

# ---- calling the program ----------------------------------------------------------------------------------------------
lw() { # ARGS…: runs the program here as a child of this shell; sets OUT ERR RC. A hang or a crash fails the case.
  N=$((N + 1)); LAST_OUT="$SCENE/io/$N.out"; LAST_ERR="$SCENE/io/$N.err"; local t=$((${LW_TIMEOUT:-25} * SLOW)) l p; l=$(left); [ "$t" -lt "$l" ] || t=$l
  printf '+ loopwright %s\n' "$*" >&2
  spawn "$LAST_OUT" "$LAST_ERR" "$LOOPWRIGHT" "$@"; p=$PID; unset 'PIDS[-1]'
  if ! until_true "$t" dead "$p"; then kill -KILL "$p" 2>/dev/null; wait "$p" 2>/dev/null; RC=hang; answer; fail "did not end within $t s: loopwright $*"; fi
  wait "$p" 2>/dev/null; RC=$?; answer; sound "$@"
}
answer() { OUT=$(tr -d '\0' <"$LAST_OUT"); ERR=$(tr -d '\0' <"$LAST_ERR"); }
sound() { # a crash fails the case, whatever was asked
  case $RC in
    101 | 132 | 134 | 135 | 136 | 139 | 70) fail "crash (exit $RC): loopwright $*" ;;
    126 | 127) fail "the program could not be started ($RC): $LOOPWRIGHT" ;;
  esac
  case $ERR in *"panicked at"*) fail "panic: loopwright $*" ;; esac
  return 0
}
dead() { ! alive "$1"; }
persona() { # NAME: another person: a shell of its own session that lives on, so that whatever makes an owner is another one
  mkfifo "$SCENE/io/$1.in"
  setsid bash -c 'while IFS= read -r f <&3; do . "$f"; done' persona 3<>"$SCENE/io/$1.in" >/dev/null 2>&1 </dev/null & PIDS+=($!)
}
by() { # NAME DIR ARGS…: that person runs the program in DIR; sets OUT ERR RC
  local who=$1 d=$2; shift 2; N=$((N + 1)); LAST_OUT="$SCENE/io/$N.out"; LAST_ERR="$SCENE/io/$N.err"; local f="$SCENE/io/$N"
  printf '+ (%s) loopwright %s\n' "$who" "$*" >&2
  { printf 'cd %q && %q' "$d" "$LOOPWRIGHT"; printf ' %q' "$@"; printf ' >%q 2>%q </dev/null; echo $? >%q.new; mv %q.new %q.rc\n' "$LAST_OUT" "$LAST_ERR" "$f" "$f" "$f"; } >"$f.cmd"
  printf '%s\n' "$f.cmd" >"$SCENE/io/$who.in"; wait_for "an answer to loopwright $*" 25 test -s "$f.rc"; RC=$(cat "$f.rc"); answer; sound "$@"
}
at() { local d=$1 old=$PWD r; shift; cd "$d" || fail "no folder $d"; "$@"; r=$?; cd "$old" || :; return $r; }
rargs() { # AGENT MORE…: fills RARGS with the arguments of a ralph
  local a=$1; shift; local -a aa; mapfile -t aa < <(agent_args "$a")
  RARGS=(ralph "${aa[@]}" --pause "$(secs 0)" "${SANDBOX_ARGS[@]}" "$@")
}
ralph() { rargs "$@"; LW_TIMEOUT=${LW_TIMEOUT:-40} lw "${RARGS[@]}"; }
ralph_bg() { # AGENT MORE…: in the background; sets PID (of ralph itself), RALPH_OUT, RALPH_ERR
  N=$((N + 1)); RALPH_OUT="$SCENE/io/$N.out"; RALPH_ERR="$SCENE/io/$N.err"; rargs "$@"
  printf '+ loopwright %s &\n' "${RARGS[*]}" >&2
  spawn "$RALPH_OUT" "$RALPH_ERR" "$LOOPWRIGHT" "${RARGS[@]}"
}
spawn() { # OUT ERR CMD…: in the background with default signal handling; sets PID
  local o=$1 e=$2; shift 2
  env --default-signal=INT,QUIT,TERM,HUP "$@" >"$o" 2>"$e" </dev/null & PID=$!; PIDS+=("$PID")
}
alive() { local s; s=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null); [ -n "$s" ] && [ "$s" != Z ] && [ "$s" != X ]; }
wait_pid() { # PID SECS: sets RC; fails if it does not end
  local end=$((SECONDS + $2 * SLOW)); while alive "$1"; do [ "$SECONDS" -lt "$end" ] || fail "process $1 did not end within $2 s"; sleep 0.1; done
  wait "$1" 2>/dev/null; RC=$?
}
until_true() { # SECS CMD…: 0 as soon as CMD is true, 1 when the time is over
  local end=$((SECONDS + $1)); shift; while ! "$@" >/dev/null 2>&1; do [ "$SECONDS" -lt "$end" ] || return 1; sleep 0.1; done
}
in_time() { local t=$1; shift; until_true $((t * SLOW)) "$@"; } # the same for what must happen
wait_for() { local what=$1; shift; in_time "$@" || fail "waited in vain for: $what"; }

# ---- asserting --------------------------------------------------------------------------------------------------------
rc_is() { local what=$1 c; shift; for c; do [ "$RC" = "$c" ] && return; done; fail "$what: exit $RC, expected $*"; }
refused() { [ "$RC" != 0 ] || fail "$1: was not refused (exit 0)"; }
out_has() { printf %s "$OUT" | grep -qiF -- "$1" || fail "${2:-stdout} lacks '$1'"; }
out_lacks() { ! printf %s "$OUT" | grep -qiF -- "$1" || fail "${2:-stdout} contains '$1'"; }
err_has() { printf %s "$ERR" | grep -qiF -- "$1" || fail "${2:-stderr} lacks '$1'"; }
both_have() { printf '%s\n%s' "$OUT" "$ERR" | grep -qiE -- "$1" || fail "${2:-output} lacks /$1/"; }
json_ok() { jq -es 'length == 1 and (.[0] | type == "object")' "$LAST_OUT" >/dev/null 2>&1 || fail "${1:-stdout} is not one JSON object"; }
json_says() { jq -e --arg w "$1" '[.. | strings] | any(. == $w)' "$LAST_OUT" >/dev/null 2>&1 || fail "${2:-JSON} has no value '$1'"; }
json_is() { jq -e "$1" "$LAST_OUT" >/dev/null 2>&1 || fail "${2:-JSON does not hold: $1}"; }
same_file() { cmp -s "$1" "$2" || fail "${3:-$2 changed}: $(diff "$1" "$2" 2>/dev/null | grep '^[<>]' | head -n 4 | tr '\n' '|')"; }
has_line() { grep -qF -- "$1" "$2" 2>/dev/null; }
marked() { grep -qxE -- "$1" "$MARKS"; }
n_marked() { grep -cxE -- "$1" "$MARKS"; }

# ---- reading what the program says ------------------------------------------------------------------------------------
token_of() { sed -n 's/.*(own:\(.*\):nwo).*/\1/p' "$1" | head -n1; }      # the task whose prompt stands in file $1
offered() { lw task next; [ "$RC" = 0 ] && OFFER=$(token_of "$LAST_OUT") || OFFER=; }   # sets OFFER, '' if none
word_of() { # FILE ID: the status word of a node in a graph file (ids without odd characters)
  awk -v id="$2" '{ sub(/\r$/, "") }
    /^[[:space:]]*-?[[:space:]]*id:/ { x = $0; sub(/^[^:]*:[[:space:]]*/, "", x); sub(/[[:space:]]+#.*$/, "", x); gsub(/["\047]/, "", x); on = (x == id) }
    on && /^[[:space:]]*-?[[:space:]]*status:/ { x = $0; sub(/^[^:]*:[[:space:]]*/, "", x); sub(/[[:space:]]+#.*$/, "", x); gsub(/["\047]/, "", x); print x; exit }' "$1"
}
state_of() { # ID (in the current checkout): the task's state as `task status --json` tells it, else the word in the file
  local s rc=$RC out=$OUT err=$ERR lo=${LAST_OUT:-} le=${LAST_ERR:-}; lw task status --json   # what was asked before stays in RC, OUT, ERR
  s=$(jq -r --arg id "$1" '[.. | objects | select((.id? // .task_id? // .task? // .key?) == $id) | (.status? // .state? // empty) | strings] | first // empty' "$LAST_OUT" 2>/dev/null)
  [ -n "$s" ] || s=$(word_of task-graph.yaml "$1")
  STATE=$(printf %s "$s" | tr 'A-Z_ ' 'a-z--'); RC=$rc OUT=$out ERR=$err LAST_OUT=$lo LAST_ERR=$le
}
is_complete() { state_of "$1"; case $STATE in complete | completed | done) return 0 ;; esac; return 1; }
complete_or_fail() { is_complete "$1" || fail "$1 is not complete (state: '$STATE')${2:+: $2}"; }
open_or_fail() { ! is_complete "$1" || fail "$1 counts as complete${2:+: $2}"; }
n_logged() { # DIR ACTION [ID]
  local f; f=$(log_of "$1"); [ -s "$f" ] || { echo 0; return; }
  jq -s --arg a "$2" --arg id "${3:-}" '[.[] | select(.action == $a and ($id == "" or .task_id == $id))] | length' "$f" 2>/dev/null || echo -1
}
logged() { [ "$(n_logged "$@")" -ge 1 ]; }
log_valid() { local f; f=$(log_of "$1"); [ -s "$f" ] || fail "no log at $f"; jq -es 'all(type == "object")' "$f" >/dev/null 2>&1 || fail "$f is not one JSON object per line"; }
never_again_after_done() { # no agent may start on a task that was accepted as complete before
  awk '$1 == "done" && $3 == 0 { d[$2] = 1 } $1 == "start" && d[$2] { print $2; exit 1 }' "$MARKS" >"$SCENE/io/again" || fail "a completed task was started again: $(cat "$SCENE/io/again")"
}

# ---- making a scene ---------------------------------------------------------------------------------------------------
repo_new() { # DIR: a git repository with one commit
  git init -q "$1" && printf 'scene\n' >"$1/README.md" && commit_all "$1" first || fail "could not make a repository"
}
commit_all() { git -C "$1" add -A && git -C "$1" commit -q --allow-empty -m "${2:-scene}"; }
worktree_new() { git -C "$1" worktree add -q -b "wt-$2" "$SCENE/wt-$2" >/dev/null 2>&1 || fail "git worktree add"; printf %s "$SCENE/wt-$2"; } # REPO NAME
yaml_str() { case $1 in '' | *[!A-Za-z0-9_-]* | [!A-Za-z]*) printf %s "$1" | jq -Rs . ;; *) printf %s "$1" ;; esac; }
graph_new() { G_NODES=; G_EDGES=; G_ANY=; }
node() { # ID [STATUS] [PRIORITY] [EXTRA LINE…]: description carries the token by which agents know their task
  local id=$1 st=${2:-ready} pr=${3:-1}; shift; [ $# -gt 0 ] && shift; [ $# -gt 0 ] && shift
  G_NODES+="  - id: $(yaml_str "$id")"$'\n'"    title: $(printf 'Work on %s' "$id" | jq -Rs .)"$'\n'"    story: S-001"$'\n'
  G_NODES+="    description: $(printf 'Do the work of this task. (own:%s:nwo)' "$id" | jq -Rs .)"$'\n'"    priority: $pr"$'\n'"    complexity: S"$'\n'"    status: $st"$'\n'
  local x; for x; do G_NODES+="    $x"$'\n'; done
}
edge() { G_EDGES+="  - from: $(yaml_str "$1")"$'\n'"    to: $(yaml_str "$2")"$'\n'; } # A must be complete before B
graph_text() {
  printf 'version: "1.0"\nmilestones:\n  - id: M1\n    title: First\n    description: the first milestone\n    status: pending\n  - id: M2\n    title: Second\n    description: the second milestone\n    status: pending\nstories: []\n'
  if [ -n "$G_NODES" ]; then printf 'nodes:\n%s' "$G_NODES"; else printf 'nodes: []\n'; fi
  if [ -n "$G_EDGES" ]; then printf 'edges:\n%s' "$G_EDGES"; else printf 'edges: []\n'; fi
}
graph_write() { graph_text >"${1:-$REPO/task-graph.yaml}"; }
graph_replace() { graph_text >"$1.new" && mv "$1.new" "$1"; } # atomically, as an editor does
scene() { # N [chain]: repository $REPO with tasks T-001 … and, with `chain`, each depending on the one before
  REPO="$SCENE/repo"; repo_new "$REPO"; graph_new; local i id before=
  for ((i = 1; i <= $1; i++)); do
    id=$(printf 'T-%03d' "$i"); if [ "${2:-}" = chain ] && [ -n "$before" ]; then node "$id" pending; edge "$before" "$id"; else node "$id" ready; fi; before=$id
  done
  graph_write; commit_all "$REPO" graph; cd "$REPO" || fail "no repository"; cp task-graph.yaml "$SCENE/graph.before"
}
ticket() { # DIR ID STATUS [FRONT MATTER LINE…]
  local d=$1 id=$2 st=$3 x; shift 3; mkdir -p "$d"
  { printf -- '---\nid: %s\ntitle: Work on %s\nstory: S-001\nstatus: %s\npriority: 1\ncomplexity: S\n' "$id" "$id" "$st"; for x; do printf '%s\n' "$x"; done
    printf -- '---\n\n# %s: Work\n\n## Task\n\nDo the work of this ticket. (own:%s:nwo)\n\n## Acceptance Criteria\n\n- [ ] it is there\n' "$id" "$id"; } >"$d/$id.md"
}
agent_text() { # BODY on stdin → a whole agent. In it: $id, $prompt, mark WORDS…, complete [ARGS…] (sets rc, marks "done ID RC")
  printf '#!/usr/bin/env bash\n# scripted agent of a case\nSCENE=%q; LOOPWRIGHT=%q; MARKS=%q\n' "$SCENE" "$LOOPWRIGHT" "$MARKS"
  local v; for v in $STATE_VARS; do [ -n "${!v:-}" ] && printf 'export %s="${%s:-%s}"\n' "$v" "$v" "${!v}"; done
  printf 'export GIT_CONFIG_GLOBAL=%q GIT_CONFIG_NOSYSTEM=1 CASE18_TAG=%q PATH="$PATH:/usr/local/bin:/usr/bin:/bin"\n' "$GIT_CONFIG_GLOBAL" "$CASE18_TAG"
  cat <<'AGENT'
case " $* " in *" --version "*) echo 9.9.9; exit 0 ;; esac
prompt=$(timeout 5 cat 2>/dev/null); [ -n "$prompt" ] || prompt="$*"
id=$(printf '%s\n' "$prompt" | sed -n 's/.*(own:\(.*\):nwo).*/\1/p' | head -n1)
[ -n "$id" ] || id=${LOOPWRIGHT_TASK:-${LOOPWRIGHT_TASK_ID:-${TASK_ID:-none}}}
mark() { printf '%s\n' "$*" >>"$MARKS"; }
safe=$(printf %s "$id" | tr -c 'A-Za-z0-9._-' _); safe=x$safe
if ! mkdir "$SCENE/live/$safe" 2>/dev/null; then o=$(cat "$SCENE/live/$safe/pid" 2>/dev/null); [ -n "$o" ] && [ "$o" != $$ ] && grep -qs '^State:[[:space:]]*[RSDTtIKWP]' "/proc/$o/status" && mark "OVERLAP $id $o $$"; fi
echo $$ >"$SCENE/live/$safe/pid"; trap '[ "$(cat "$SCENE/live/$safe/pid" 2>/dev/null)" = $$ ] && rm -rf "$SCENE/live/$safe"' EXIT
complete() { "$LOOPWRIGHT" task complete "$id" "$@" >>"$SCENE/io/agent-complete" 2>&1; rc=$?; mark "done $id $rc"; return $rc; }
mark "start $id $$"
AGENT
  cat
}
agent_new() { agent_text >"$SCENE/bin/$1"; chmod +x "$SCENE/bin/$1"; AGENT="$SCENE/bin/$1"; } # NAME, body on stdin; sets AGENT
good_agent() { agent_new good-agent <<<'complete; exit 0'; }
idle_agent() { agent_new idle-agent <<<"echo \$\$ >\"\$SCENE/agent.pid\"; sleep ${1:-300} & wait \$!; complete; exit 0"; } # long at work, then completes
jail_agent() { # body on stdin: an agent inside the repository that needs nothing from outside; marks go to the checkout
  { printf '#!/bin/sh\n[ -d %q/io ] && ( : >%q/io/not-jailed ) 2>/dev/null && exit 99\nLW=$(command -v loopwright || echo %q)\nprompt=$(cat)\nid=$(printf "%%s\\n" "$prompt" | sed -n "s/.*(own:\\(.*\\):nwo).*/\\1/p" | head -n1)\nmark() { printf "%%s\\n" "$*" >>jail-marks; }\nmark "start $id"\n' "$SCENE" "$SCENE" "$LOOPWRIGHT"; cat; } >"$REPO/agent.sh"
  chmod +x "$REPO/agent.sh"; commit_all "$REPO" agent; AGENT=./agent.sh; SANDBOX_ARGS=()
}
