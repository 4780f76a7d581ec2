# Helper library of the black-box cases for retry, skip, accept, take. Source it first; $LW is the binary.
# A case: project_with STORY[:DEP,DEP] ...; start [FLAGS]; waits; verbs by `lw`; `ok` or `no REASON` at the end.
# Steering of the scripted agents is by files in $T/ctl (see agents below). Nothing outside of $T is written.
set -u
: "${LW:?set LW to the binary}"
LW=$(readlink -f "$LW")
for v in $(env | sed -n 's/^\(LOOPWRIGHT_[A-Z_]*\)=.*/\1/p') XDG_STATE_HOME XDG_CONFIG_HOME GIT_DIR GIT_WORK_TREE; do unset "$v"; done
T=$(mktemp -d "${TMPDIR:-/tmp}/steer.XXXXXX")
PYTHON=$(python3 -c 'import sys; print(sys.executable)'); python3() { "$PYTHON" "$@"; } # past any slow shim
export LOOPWRIGHT_SANDBOX_KIND=host # scripted agents write their traces outside of their checkouts
export HOME=$T/home LOOPWRIGHT_HOME=$T/state USER=petra LOGNAME=petra GIT_CONFIG_NOSYSTEM=1 NO_COLOR=1
mkdir -p "$HOME" "$T/ctl" "$T/prompts" "$T/agents" "$T/pids"; : >"$T/calls"; : >"$T/judged"
P=$T/p ID= RC=0 OUT=$T/out ACCEPTED=
git config --global user.name 'Petra Person'; git config --global user.email petra@example.org
git config --global init.defaultBranch main; git config --global advice.detachedHead false

# ---------------------------------------------------------------- the end of a case
ours() { # pids of every process of this case, ourselves and our parents left out: found by $T in environment or command line
  python3 - "$T/" $$ "$BASHPID" "$PPID" <<'E'
import os, sys
wanted, out = sys.argv[1].encode(), {int(p) for p in sys.argv[2:]} | {os.getpid(), os.getppid()}
for p in filter(str.isdigit, os.listdir("/proc")):
    said = b""
    for name in ("environ", "cmdline"):
        try:
            said += open(f"/proc/{p}/{name}", "rb").read()
        except OSError:
            pass
    if wanted in said and int(p) not in out:
        print(p)
E
}
cleanup() {
  rm -f "$T"/ctl/*.hold 2>/dev/null
  local i p
  for i in 1 2 3 4 5 6; do p=$(ours); [ -n "$p" ] || [ $i -lt 3 ] || break; for p in $p; do kill -9 "$p" 2>/dev/null; done; sleep 0.15; done
  [ -n "${KEEP:-}" ] && echo "kept: $T" >&2 || { git -C "$P" worktree prune 2>/dev/null; rm -rf "$T" 2>/dev/null || { sleep 0.5; for p in $(ours); do kill -9 "$p" 2>/dev/null; done; rm -rf "$T"; }; }
}
trap cleanup EXIT
trap 'echo "NOT OK interrupted"; exit 1' INT TERM
no() { echo "NOT OK $(basename "$0" .sh): $*" | tr '\n' ' ' | cut -c1-600; echo; [ -n "${KEEP:-}" ] && { cat "$T/err" "$OUT" >&2 2>/dev/null; }; exit 1; }
ok() { sound; echo "ok $(basename "$0" .sh)"; exit 0; }

# ---------------------------------------------------------------- project, agents
# ctl/STORY.mode[.AGENT]  good (default) | bad | breaks (good, and old.sh is broken) | hint (good only if told PLEASE-DO-IT-RIGHT) | none | ask
# ctl/STORY.hold          the implementor waits while it exists        ctl/STORY.do   sh snippet that the implementor sources first
# ctl/STORY.judge         "fail": the judge says FAIL                  ctl/judge.do   sh snippet that the judge sources
# ctl/check.hold          every check command waits while it exists    ctl/judge.hold the judge waits
# calls: "STORY ATTEMPT STAGE AGENT PID" per agent run;  prompts/STORY.ATTEMPT.STAGE.AGENT: the prompt
write_agents() {
cat >"$T/agents/common.sh" <<E
T='$T' LWBIN='$LW' STATE='$LOOPWRIGHT_HOME'
E
cat >>"$T/agents/common.sh" <<'E'
who=$1; task=$(cat); s=$LOOPWRIGHT_STORY_ID; n=$LOOPWRIGHT_ATTEMPT; stage=$LOOPWRIGHT_STAGE
printf '%s\n' "$task" >>"$T/prompts/$s.$n.$stage.$who"
echo "$s $n $stage $who $$" >>"$T/calls"
E
cat >"$T/agents/impl.sh" <<'E'
. "$(dirname "$0")/common.sh"
while [ -e "$T/ctl/$s.hold" ]; do sleep 0.1; done
if [ -e "$T/ctl/$s.do" ]; then . "$T/ctl/$s.do"; fi
mode=good
[ -e "$T/ctl/$s.mode" ] && mode=$(cat "$T/ctl/$s.mode")
[ -e "$T/ctl/$s.mode.$who" ] && mode=$(cat "$T/ctl/$s.mode.$who")
if [ "$mode" = hint ]; then case "$task" in *PLEASE-DO-IT-RIGHT*) mode=good ;; *) mode=bad ;; esac; fi
case "$mode" in
  good) echo "echo $s-good" >"$s.sh" ;;
  breaks) echo "echo $s-good" >"$s.sh"; echo "echo broken by $s" >old.sh ;;
  bad) echo "echo $s-bad-$n" >"$s.sh" ;;
  ask) echo '{"question": "which colour?"}' ;;
esac
exit 0
E
cat >"$T/agents/rev.sh" <<'E'
. "$(dirname "$0")/common.sh"
if [ "$stage" = review ]; then echo '{"summary": "looked", "criteria": [], "findings": []}'; exit 0; fi
echo "[ \"\$(sh $s.sh)\" = $s-good ] || { echo \"$s is not good\"; exit 1; }" >"tests/$s.sh"
[ -e "$T/ctl/$s.extra" ] && cp "$T/ctl/$s.extra" "tests/$s-extra.sh"
if [ -e "$T/ctl/$s.extra" ]; then names="\"$s\", \"$s-extra\""; else names="\"$s\""; fi
printf '{"summary": "tests", "criteria": [{"criterion": "`sh %s.sh` prints %s-good", "tests": [%s]}], "findings": []}\n' "$s" "$s" "$names"
E
cat >"$T/agents/judge.sh" <<'E'
. "$(dirname "$0")/common.sh"
if [ "$stage" = arbitrate ]; then echo '{"fresh_tests": false, "reason": "the criterion says so"}'; exit 0; fi
while [ -e "$T/ctl/judge.hold" ]; do sleep 0.1; done
if [ -e "$T/ctl/judge.do" ]; then . "$T/ctl/judge.do"; fi
echo "$s $LOOPWRIGHT_CANDIDATE" >>"$T/judged"
if [ "$(cat "$T/ctl/$s.judge" 2>/dev/null)" = fail ]; then
  printf '{"verdict": "FAIL", "commit": "%s", "reason": "I do not like it", "criteria": [], "guidance": ["do better"]}\n' "$LOOPWRIGHT_CANDIDATE"; exit 0
fi
printf '{"verdict": "PASS", "commit": "%s", "reason": "fine", "criteria": [{"criterion": "`sh %s.sh` prints %s-good", "pass": true, "evidence": "it does"}], "guidance": []}\n' "$LOOPWRIGHT_CANDIDATE" "$s" "$s"
E
}
project_with() {
  write_agents
  mkdir -p "$P/tests"; git init -q "$P"
  echo 'echo old' >"$P/old.sh"
  echo '[ "$(sh old.sh)" = old ] || { echo "old is broken"; exit 1; }' >"$P/tests/old.sh"
  cat >"$P/test.sh" <<E
echo run >>'$T/checks'
while [ -e '$T/ctl/check.hold' ]; do sleep 0.1; done
E
  cat >>"$P/test.sh" <<'E'
number=0
code=0
for test in tests/*.sh; do
  number=$((number + 1))
  name=$(basename "$test" .sh)
  if said=$(sh "$test" 2>&1); then echo "ok $number - $name"; else echo "not ok $number - $name"; echo "# $said"; code=1; fi
done
echo "1..$number"
exit $code
E
  python3 - "$P/prd.json" "$@" <<'E'
import json, sys
stories = []
for n, spec in enumerate(sys.argv[2:], 1):
    i, _, deps = spec.partition(":")
    stories.append({"id": i, "title": f"Make {i}", "description": f"A script {i}.", "acceptance_criteria": [f"`sh {i}.sh` prints {i}-good"],
                    "priority": n, "passes": False, "depends_on": [d for d in deps.split(",") if d]})
json.dump({"title": "Small scripts", "stories": stories}, open(sys.argv[1], "w"), indent=2)
E
  cat >"$P/loopwright.toml" <<E
[loop]
max_retries = ${MAX_RETRIES:-0}
[agents.builder]
command = ["sh", "$T/agents/impl.sh", "builder"]
[agents.second]
command = ["sh", "$T/agents/impl.sh", "second"]
[agents.tester]
command = ["sh", "$T/agents/rev.sh", "tester"]
[agents.judge]
command = ["sh", "$T/agents/judge.sh", "judge"]
[roles.implementor]
agent = "builder"
[roles.reviewer]
agent = "tester"
[roles.judge]
agent = "judge"
[retry]
ladder = ["builder"]
[checks]
test = "sh test.sh"
mutants = 0
${TOML_MORE:-}
E
  git -C "$P" add -A; git -C "$P" commit -qm 'chore: a small project'
  BASE=$(git -C "$P" rev-parse HEAD)
}
ctl() { printf '%s\n' "$2" >"$T/ctl/.new"; mv "$T/ctl/.new" "$T/ctl/$1"; } # ctl NAME CONTENT
hold() { : >"$T/ctl/$1.hold"; }
release() { rm -f "$T/ctl/$1.hold"; }

# ---------------------------------------------------------------- the binary
one_object() { # FILE: exactly one JSON object with the envelope; prints what is wrong
  python3 - "$1" "$2" <<'E'
import json, sys
try: d = json.load(open(sys.argv[1]))
except Exception as e: print(f"stdout is not one JSON object: {e}"); sys.exit()
if not isinstance(d, dict) or "ok" not in d or "command" not in d: print("no envelope {ok, command, ...}"); sys.exit()
rc = int(sys.argv[2])
if d["ok"] is False and rc == 0: print("ok is false and the exit code 0")
if d["ok"] is True and rc not in (0, 1, 4): print(f"ok is true and the exit code {rc}")
if d["ok"] is False and not d.get("error"): print("ok is false and there is no error")
E
}
lw() { # lw VERB ARGS: runs it with --json; RC, $OUT, $T/err; one parsable object is demanded of every call
  OUT=$T/out; timeout "${LW_TIMEOUT:-60}" "$LW" "$@" --json >"$OUT" 2>"$T/err" </dev/null; RC=$?
  judge_call "$@"
}
judge_call() {
  grep -q 'unrecognized subcommand' "$T/err" "$OUT" && no "the verb $1 does not exist (all before it was played)"
  case $RC in
    124) no "\`$*\` did not end within ${LW_TIMEOUT:-60} s" ;;
    0|1|2|3|4) ;;
    *) no "\`$*\` ended with exit code $RC: $(tail -3 "$T/err")" ;;
  esac
  local wrong; wrong=$(one_object "$OUT" "$RC"); [ -z "$wrong" ] || no "\`$*\` (exit code $RC): $wrong; stderr: $(tail -2 "$T/err")"
}
said() { python3 -c 'import json,sys
d=json.load(open(sys.argv[1])); e=d.get("error") or {}; print(e.get("message") or d.get("result"))' "$OUT" 2>/dev/null | cut -c1-200; }
must() { lw "$@"; [ $RC = 0 ] || [ $RC = 1 ] || [ $RC = 4 ] || no "\`$*\` was refused ($RC): $(said)"; }
refused() { # refused VERB ARGS: refused, and nothing changes
  local before after; before=$(snap); lw "$@"
  [ $RC != 0 ] || no "\`$*\` was not refused: $(said)"
  python3 -c 'import json,sys; sys.exit(json.load(open(sys.argv[1]))["ok"] is not False)' "$OUT" || no "\`$*\` has exit code $RC, but says ok"
  sleep "${SETTLE:-0.7}"; after=$(snap)
  [ "$before" = "$after" ] || no "\`$*\` was refused, but something changed: $(diff <(echo "$before") <(echo "$after") | grep '^[<>]' | head -4)"
}
bg() { # bg NAME VERB ARGS: in the background; then `joined NAME`
  local name=$1; shift
  ( timeout 90 "$LW" "$@" --json >"$T/out.$name" 2>"$T/err.$name" </dev/null; echo $? >"$T/rc.$name" ) &
  echo $! >"$T/pids/$name"; echo "$*" >"$T/cmd.$name"
}
joined() { local i; for i in $(seq 900); do [ -s "$T/rc.$1" ] && break; sleep 0.1; done
  [ -s "$T/rc.$1" ] || no "\`$(cat "$T/cmd.$1")\` did not end"
  RC=$(cat "$T/rc.$1"); OUT=$T/out.$1; cp "$T/err.$1" "$T/err"; judge_call $(cat "$T/cmd.$1"); }
start() { # start [FLAGS]
  "$LW" start --project "$P" --prd "$P/prd.json" --json "$@" >"$T/out" 2>"$T/err" </dev/null || no "start: $(cat "$T/out" "$T/err" | head -c 400)"
  ID=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["result"]["loopId"])' "$T/out") || no "start gave no loopId"
  B=agent-loop/$ID
}
q() { # q VERB 'python expression of r (the result)' [ARGS]: of a --json answer
  local verb=$1 e=$2; shift 2
  timeout 30 "$LW" "$verb" "$ID" "$@" --json 2>/dev/null </dev/null | python3 -c 'import json,sys
try: r=json.load(sys.stdin)["result"]
except Exception: r={}
try: print(eval(sys.argv[1]))
except Exception: print("?")' "$e"
}
loop_state() { q status 'r["status"]'; }
state() { q status '[s["status"] for s in r["stories"] if s["id"]=="'"$1"'"][0]'; }
attempts() { q status '[s["attempts"] for s in r["stories"] if s["id"]=="'"$1"'"][0]'; }
sha() { q status '[s.get("commitSha") or "" for s in r["stories"] if s["id"]=="'"$1"'"][0]'; }
n_events() { q events 'len([e for e in r["events"] if e["name"]=="agent/loop.'"$1"'" and ("'"${2:-}"'" in ("", e["data"].get("storyId")))])'; }
until_true() { # until_true SECONDS WHAT COMMAND...: polls
  local s=${WAIT:-$1} what=$2 end; shift 2; end=$((SECONDS + s))
  while ! "$@"; do [ $SECONDS -lt $end ] || no "after $s s not yet: $what (loop $(loop_state); $(q status '" ".join(s["id"]+"="+s["status"] for s in r["stories"])'))"; sleep 0.2; done
}
is_state() { [ "$(state "$1")" = "$2" ]; }
is_over() { case "$(loop_state)" in completed|cancelled|failed|budget_exhausted|max_iterations*|max-iterations*) return 0 ;; esac; return 1; }
wait_story() { until_true 60 "story $1 is $2" is_state "$1" "$2"; }
wait_over() { until_true 60 'the loop is over' is_over; }
wait_call() { until_true 60 "a run of ($1)" grep -qE "^$1" "$T/calls"; } # wait_call 'alpha 1 implement'
n_calls() { grep -cE "^$1" "$T/calls"; }
done_with() { # done_with STORY STATE: the story is so, the loop is over
  wait_story "$1" "$2"; wait_over; is_state "$1" "$2" || no "story $1 is $(state "$1"), not $2"; }
alive() { kill -0 "$1" 2>/dev/null && ! grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; }
pid_of() { grep -E "^$1" "$T/calls" | tail -1 | awk '{print $5}'; }
is_dead() { ! alive "$1"; }
worker_pid() { local p; p=$(tr -dc 0-9 <"$LOOPWRIGHT_HOME/worker.lock" 2>/dev/null); [ -n "$p" ] && { tr '\0' '\n' <"/proc/$p/environ"; } 2>/dev/null | grep -qF "$T/" && echo "$p"; }
kill_worker() { local p; p=$(worker_pid); [ -n "$p" ] && kill -9 "$p"; }
kill_worker_for() { # kill_worker_for SECONDS: again and again, each new one too; `status` starts it again
  local end=$((SECONDS + $1)); while [ $SECONDS -lt $end ]; do kill_worker; sleep 0.3; "$LW" status "$ID" >/dev/null 2>&1 </dev/null; sleep 0.1; done; }
nudge() { "$LW" status "$ID" >/dev/null 2>&1 </dev/null; }

# ---------------------------------------------------------------- what must hold
tip() { git -C "$P" rev-parse -q --verify "refs/heads/$B" 2>/dev/null || echo none; }
commits_of() { git -C "$P" log --format='%H %(trailers:key=Story-Id,valueonly,separator=%x2C)' "$BASE..refs/heads/$B" 2>/dev/null | awk -v s="$1" '$2==s{print $1}'; }
n_commits_of() { commits_of "$1" | grep -c .; }
trailer() { git -C "$P" log -1 --format="%(trailers:key=$2,valueonly,separator=%x2C)" "$1"; }
file_at() { git -C "$P" show "$1:$2" 2>/dev/null; }
once() { local n; n=$(n_commits_of "$1"); [ "$n" = 1 ] || no "story $1 is $n times on the branch"; }
never() { local n; n=$(n_commits_of "$1"); [ "$n" = 0 ] || no "story $1 is on the branch"; }
prd() { python3 -c 'import json,sys
s=[s for s in json.load(open(sys.argv[1]))["stories"] if s["id"]==sys.argv[2]][0]; print(bool(s.get(sys.argv[3])))' "$P/prd.json" "$1" "$2"; }
snap() {
  git -C "$P" for-each-ref --format='%(refname) %(objectname)'; git -C "$P" worktree list | wc -l; sha256sum <"$P/prd.json"
  q status '"\n".join([r["status"]]+["%s %s %s %s"%(s["id"],s["status"],s["attempts"],s.get("commitSha")) for s in r["stories"]])'
  q events '"\n".join(e["name"]+" "+str(e["data"].get("storyId")) for e in r["events"])'
}
by_person() { # by_person STORY [REASON]: the accepted commit and its record
  local c; c=$(commits_of "$1"); once "$1"
  trailer "$c" Verified | grep -qi person || no "the accepted commit of $1 has no trailer Verified: person"
  [ "$(trailer "$c" Loop-Id)" = "$ID" ] || no "the accepted commit of $1 has no Loop-Id"
  [ "$(sha "$1")" = "$c" ] || no "status names $(sha "$1") for $1, the branch has $c"
  local all; all=$("$LW" story "$ID" "$1" --json; "$LW" events "$ID" --json; "$LW" report "$ID" --json; git -C "$P" log -1 --format=%B "$c")
  grep -qiE "petra|\"$(id -un)\"" <<<"$all" || no "the person's name is neither in story, events, report nor commit"
  if [ -n "${2:-}" ]; then grep -qF "$2" <<<"$all" || no "the reason is neither in story, events, report nor commit"; fi
  [ "$(prd "$1" passes)" = True ] || no "the PRD does not say that $1 passes"
  [ "$(prd "$1" skipped)" = False ] || no "the PRD still says that $1 is skipped"
  ACCEPTED="$ACCEPTED $1"
}
sound() { # invariants that hold at the end of every case
  [ -n "$ID" ] || return 0
  local c s v n
  [ "$(git -C "$P" rev-parse HEAD)" = "${MY_HEAD:-$BASE}" ] || no 'I6: HEAD of my checkout moved'
  [ -z "$(git -C "$P" status --porcelain --untracked-files=all | grep -v ' prd.json$')" ] || no "I6: my checkout changed: $(git -C "$P" status --porcelain | head -3)"
  [ "$(git -C "$P" stash list | wc -l)" = 0 ] || no 'I6: a stash appeared'
  python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$P/prd.json" || no 'the PRD is no JSON any more'
  if [ "$(tip)" != none ]; then
    [ -z "$(git -C "$P" rev-list --min-parents=2 "$BASE..$B")" ] || no 'the branch has a merge'
    git -C "$P" merge-base --is-ancestor "$BASE" "$B" || no 'the branch does not stand on the base'
    for c in $(git -C "$P" rev-list "$BASE..$B"); do
      s=$(trailer "$c" Story-Id); v=$(trailer "$c" Verified)
      n=$(n_commits_of "$s"); [ "$n" = 1 ] || no "story '$s' is $n times on the branch"
      case "$v" in *[Pp]erson*) [[ " $ACCEPTED " == *" $s "* ]] || no "$s says Verified: person, and no person accepted it" ;;
        '') grep -qE "^$s " "$T/judged" || no "I1: $s is on the branch, and no judge was asked" ;; esac
      git -C "$P" grep -qE '^(<<<<<<<|>>>>>>>)' "$c" && no "$s landed with conflict markers"
    done
    [ "${TIP_IS_MINE:-}" ] || [ "$(tip)" = "$(q status 'r["headSha"]')" ] || no "the branch is at $(tip), status says $(q status 'r["headSha"]')"
  fi
  for s in $(q status '" ".join(s["id"] for s in r["stories"] if s["status"]=="passed")'); do [ "${TIP_IS_MINE:-}" ] || once "$s"; done
  git -C "$LOOPWRIGHT_HOME/loops/$ID/repo.git" fsck --connectivity-only >/dev/null 2>&1 || no "the loop's repository is damaged"
}

# ---------------------------------------------------------------- take, whose form is open
# begin: FOLDER is where the person works. Forms: `take ID STORY [FOLDER]`, then `take ID STORY --done` (or what next_actions or the
# help says); or `take ID STORY COMMIT|FOLDER` alone, on a work tree made by `checkout` or git.
take_help() { "$LW" take --help 2>&1; }
take_flag() { take_help | grep -oE -- '--(done|finish|finished|submit|ready|hand-in|hand-back|complete|commit|give-back|return)\b' | head -1; }
take_begin() { # take_begin STORY: RC, FOLDER; refusal leaves FOLDER empty
  FOLDER=; take_help | grep -q 'unrecognized subcommand' && no "the verb take does not exist (all before it was played)"
  if [ -z "$(take_flag)" ] && ! take_help | grep -qiE '\[(FOLDER|DIR)' && take_help | grep -E '^Usage' | grep -qiE '<?\[?(COMMIT|REV|REVISION|FOLDER|DIR|SHA|BRANCH)'; then
    TAKE_FORM=commit; FOLDER=$T/mine.$1; git -C "$P" worktree add -q --detach "$FOLDER" "$([ "$(tip)" = none ] && echo "$BASE" || tip)"; RC=0; return
  fi
  TAKE_FORM=folder
  if take_help | grep -E '^Usage' | grep -qiE 'FOLDER|DIR'; then lw take "$ID" "$1" "$T/mine.$1"; else lw take "$ID" "$1"; fi
  cp "$OUT" "$T/take.$1.json"; [ $RC = 0 ] || return 0
  FOLDER=$(python3 - "$OUT" "$P" "$T" <<'E'
import json, os, sys
def strings(v):
    if isinstance(v, str): yield v
    elif isinstance(v, dict):
        for x in v.values(): yield from strings(x)
    elif isinstance(v, list):
        for x in v: yield from strings(x)
for s in strings(json.load(open(sys.argv[1])).get("result")):
    if s.startswith("/") and os.path.exists(os.path.join(s, ".git")) and os.path.realpath(s) != os.path.realpath(sys.argv[2]): print(s); break
else:
    for n in os.listdir(sys.argv[3]):
        if n.startswith("mine."): print(os.path.join(sys.argv[3], n)); break
E
  )
  [ -n "$FOLDER" ] && [ -d "$FOLDER" ] || no "take says ok, but its result names no work tree: $(said)"
}
take_command() { # take_command STORY: the words that hand the work in, one per line
  local f; f=$(take_flag)
  if [ "${TAKE_FORM:-folder}" = commit ]; then
    if take_help | grep -E '^Usage' | grep -qiE 'FOLDER|DIR'; then printf '%s\n' take "$ID" "$1" "$FOLDER"; else printf '%s\n' take "$ID" "$1" "$(git -C "$FOLDER" rev-parse HEAD)"; fi
  elif [ -n "$f" ]; then
    if take_help | grep -qE -- "$f[ =]<"; then
      if take_help | grep -qE -- "$f[ =]<(FOLDER|DIR)"; then printf '%s\n' take "$ID" "$1" "$f" "$FOLDER"; else printf '%s\n' take "$ID" "$1" "$f" "$(git -C "$FOLDER" rev-parse HEAD)"; fi
    else printf '%s\n' take "$ID" "$1" "$f"; fi
  else
    python3 - "$T/take.$1.json" <<'E'
import json, shlex, sys
for a in json.load(open(sys.argv[1])).get("next_actions", []):
    w = shlex.split(a["command"])
    if "loopwright" in w[0] and len(w) > 3 and any(x in ("take", "resume", "answer", "done") for x in w[1:3]):
        print("\n".join(w[1:])); break
E
  fi
}
take_done() { local -a w; mapfile -t w < <(take_command "$1"); [ ${#w[@]} -gt 2 ] || no 'neither the help of take nor its next_actions say how the work is handed in'; lw "${w[@]}"; }
i_commit() { # i_commit STORY [WORD]: the person writes STORY.sh and commits
  echo "echo $1-${2:-good}" >"$FOLDER/$1.sh"; git -C "$FOLDER" add "$1.sh" && git -C "$FOLDER" commit -qm "my own $1" || no 'git commit in the work tree failed'; }
n_checks() { grep -c . "$T/checks"; }
agent_refused() { # the call of the binary from inside a run (results in $T/agent.out, .rc) was refused and did nothing to alpha
  until_true 60 'the agent called the binary' test -s "$T/agent.rc"
  grep -q 'unrecognized subcommand' "$T/agent.out" && no 'the verb accept does not exist (all before it was played)'
  [ "$(cat "$T/agent.rc")" != 0 ] || no "accept from inside a run was not refused: $(head -c 300 "$T/agent.out")"
  case "$(cat "$T/agent.rc")" in 70|101|134|139) no "accept from inside a run crashed: $(head -c 300 "$T/agent.out")" ;; esac
  wait_story beta passed; wait_over; sleep 1
  is_state alpha skipped || no "alpha is $(state alpha) after an agent called accept"; never alpha
  must accept "$ID" alpha --reason 'the person may, outside'; wait_story alpha passed; wait_over; by_person alpha 'the person may, outside'
}
agent_line() { # the words of an agent's call: agent_line PREFIX
  echo "$1 LOOPWRIGHT_HOME=\"\$STATE\" HOME=\"\$T/home\" PATH=\"\$PATH\" \"\$LWBIN\" accept \$LOOPWRIGHT_LOOP_ID alpha --reason 'the agent says so' --json >\$T/agent.out 2>&1 </dev/null; echo \$? >\$T/agent.rc"; }
landed_between() { # alpha skipped, beta landed after it, gamma is held under way: the head moved since alpha's candidate
  project_with alpha beta gamma; ctl alpha.mode "${ALPHA:-bad}"; [ -n "${JUDGE:-}" ] && ctl alpha.judge "$JUDGE"; hold gamma; start
  wait_story alpha skipped; wait_story beta passed; wait_call 'gamma 1 implement'; }
dont_wait() { [ "$(loop_state)" != needs_human ] || no 'the loop waits for a person'; }
skipped_alpha() { # the usual scene: alpha fails for good and the loop is over
  project_with "${@:-alpha}"; ctl alpha.mode "${ALPHA:-bad}"; [ -n "${JUDGE:-}" ] && ctl alpha.judge "$JUDGE"; start; done_with alpha skipped; }
