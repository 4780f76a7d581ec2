#!/usr/bin/env python3
"""Plays the cases of this folder by hand, without Loopwright. See FORM.md."""
import glob, hashlib, json, os, re, shutil, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.environ.get("ORACLE_RUNNERS", os.path.join(HERE, "runners"))
WORK = os.environ.get("ORACLE_WORK", os.path.join(__import__("tempfile").gettempdir(), "oracle16"))
COMMANDS = ["setup", "build", "typecheck", "lint", "format", "test"]
VERBOSE = "-v" in sys.argv
GITENV = dict(GIT_AUTHOR_NAME="o", GIT_AUTHOR_EMAIL="o@x", GIT_COMMITTER_NAME="o", GIT_COMMITTER_EMAIL="o@x",
              GIT_AUTHOR_DATE="2026-01-01T00:00:00Z", GIT_COMMITTER_DATE="2026-01-01T00:00:00Z",
              GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")


class Bad(Exception):
    pass


def sh(args, cwd, check=True, env=None, stdin=None, timeout=600):
    e = dict(os.environ, **GITENV, **(env or {}))
    r = subprocess.run(args, cwd=cwd, env=e, input=stdin, text=True, capture_output=True, timeout=timeout)
    if check and r.returncode:
        raise Bad(f"{args}: {r.stdout[-1500:]}{r.stderr[-1500:]}")
    return r


def fresh(path):
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


class Play:
    def __init__(self, case):
        self.c, self.name = case, case["name"]
        self.dir = fresh(os.path.join(WORK, self.name))
        self.repo = fresh(os.path.join(self.dir, "repo"))
        self.scene = fresh(os.path.join(self.dir, "scene"))
        self.cache, self.runs = {}, 0
        self.stories = {s["id"]: s for s in case["stories"]}
        self.g("init", "-q", "-b", "main")
        for p, t in case["files"].items():
            f = os.path.join(self.repo, p)
            os.makedirs(os.path.dirname(f), exist_ok=True)
            open(f, "w").write(t)
        if case.get("pre"):
            self.script(case["pre"], self.repo)
        self.g("add", "-A")
        self.g("commit", "-qm", "base", "--allow-empty")
        self.base = self.g("rev-parse", "HEAD")

    def g(self, *a, check=True, cwd=None, stdin=None):
        r = sh(["git", *a], cwd or self.repo, check=check, stdin=stdin)
        return r.stdout.strip() if check else r

    def path_env(self):
        return {"PATH": f"{RUN}/venv/bin:" + os.environ["PATH"], "SCENE": self.scene, "PYTHONDONTWRITEBYTECODE": "1"}

    def script(self, text, cwd, env=None, stdin=""):
        return sh(["bash", "-c", text.replace("@RUNNERS@", RUN)], cwd, check=False, env={**self.path_env(), **(env or {})}, stdin=stdin)

    # --- trees
    def tree(self, commit):
        return self.g("rev-parse", commit + "^{tree}")

    def commit(self, tree, parent, msg):
        return self.g("commit-tree", tree, "-p", parent, "-m", msg)

    def changes(self, a, b):
        out = {}
        for line in self.g("diff", "--raw", "--no-renames", "--no-abbrev", "-z", a, b).split("\0:"):
            if not line.strip("\0"):
                continue
            meta, path = line.strip("\0").lstrip(":").split("\0")[:2]
            m = meta.split()
            out[path] = ((m[0], m[2]), (m[1], m[3]))  # (mode, blob) before, after
        return out

    def listing(self, commit):
        return self.g("ls-tree", "-r", "--name-only", "-z", commit).strip("\0").split("\0")

    def compose(self, head, edits):
        idx = os.path.join(self.dir, "index")
        if os.path.exists(idx):
            os.remove(idx)
        e = {"GIT_INDEX_FILE": idx}
        sh(["git", "read-tree", head], self.repo, env=e)
        inp = ""
        for p, (mode, blob) in edits.items():
            inp += f"0 {'0' * 40}\t{p}\n" if mode == "000000" else f"{mode} {blob}\t{p}\n"
        sh(["git", "update-index", "--index-info"], self.repo, env=e, stdin=inp)
        return sh(["git", "write-tree"], self.repo, env=e).stdout.strip()

    def restack(self, base, cand, head):
        """The page's rules (section 1). Gives (tree, class) or (None, paths)."""
        ours, theirs = self.changes(base, cand), self.changes(base, head)
        edits, bad, merged = {}, [], False
        have = set(self.listing(head))
        fold = {}
        for p in have:
            fold.setdefault(p.casefold(), p)
        for p, (old, new) in ours.items():
            if p not in theirs:
                if new[0] != "000000" and old[0] == "000000":
                    if p.casefold() in fold and fold[p.casefold()] != p:
                        bad.append(p)
                    if any(h.startswith(p + "/") or p.startswith(h + "/") for h in have if (h not in ours or ours[h][1][0] != "000000")):
                        bad.append(p)
                edits[p] = new
                continue
            tnew = theirs[p][1]
            if tnew == new:
                continue
            if "000000" in (old[0], new[0], tnew[0]) or "120000" in (new[0], tnew[0]):
                bad.append(p)
                continue
            files = []
            for n, b in (("h", tnew[1]), ("b", old[1]), ("c", new[1])):
                f = os.path.join(self.dir, "m" + n)
                open(f, "wb").write(subprocess.run(["git", "cat-file", "blob", b], cwd=self.repo, capture_output=True).stdout)
                files.append(f)
            r = sh(["git", "merge-file", "-p", "--diff-algorithm=histogram", *files], self.repo, check=False)
            if r.returncode:
                bad.append(p)
                continue
            blob = self.g("hash-object", "-w", "--stdin", stdin=r.stdout)
            edits[p] = (new[0], blob)
            merged = True
        if bad:
            return None, sorted(set(bad))
        return self.compose(head, edits), "mixed" if merged else "disjoint"

    # --- measuring
    def checkout(self, commit, where):
        d = fresh(os.path.join(self.dir, where))
        p = subprocess.Popen(["git", "archive", commit], cwd=self.repo, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", d], stdin=p.stdout, check=True)
        p.wait()
        return d

    def checks(self, commit, tries=None, cold=False):
        t = self.tree(commit)
        if not cold and t in self.cache:
            return self.cache[t]
        tries = tries or self.c["expect"].get("head_tries", 1)
        for _ in range(tries):
            res = self.measure(commit)
            if res["green"]:
                break
        self.cache[t] = res
        return res

    def measure(self, commit):
        d = self.checkout(commit, "chk")
        tmp = fresh(os.path.join(self.dir, "tmp"))
        vt = os.path.join(tmp, "vt.json")
        green, tests, log = True, {}, ""
        for k in COMMANDS:
            cmd = self.c["checks"].get(k)
            if not isinstance(cmd, str):
                continue
            if cmd == "npm test":
                cmd += f" -- --reporter=default --reporter=json --outputFile.json={vt}"
            r = self.script(cmd, d, env={"TMPDIR": tmp, "PYTEST_ADDOPTS": "-rA", "CARGO_TERM_COLOR": "never", "NO_COLOR": "1",
                                         "CARGO_INCREMENTAL": "0"})
            self.runs += 1
            out = r.stdout + r.stderr
            log += f"$ {cmd} -> {r.returncode}\n{out}"
            if r.returncode:
                green = False
            for m in re.finditer(r"^(PASSED|FAILED|ERROR|SKIPPED) \S*?::(\S+)", out, re.M):
                tests[m[2]] = m[1] == "PASSED"
            for m in re.finditer(r"^test (.+?) \.\.\. (ok|FAILED|ignored)", out, re.M):
                tests[m[1]] = m[2] == "ok"
            if os.path.exists(vt):
                for f in json.load(open(vt))["testResults"]:
                    for a in f["assertionResults"]:
                        tests[a["fullName"]] = a["status"] == "passed"
            if r.returncode and k == "setup":
                break
        return {"green": green, "tests": tests, "log": log}

    # --- agents
    def agent(self, text, base, sid, attempt, former=None, prompt="", only_tests=False):
        d = fresh(os.path.join(self.dir, "agent"))
        sh(["git", "init", "-q", "-b", "work"], d)
        sh(["git", "fetch", "-q", self.repo, f"{base}:refs/heads/got"], d)
        sh(["git", "reset", "-q", "--hard", "got"], d)
        sh(["git", "branch", "-qD", "got"], d)
        if former:
            sh(["git", "fetch", "-q", self.repo, f"{former}:refs/heads/former"], d)
        r = self.script(text, d, stdin=prompt, env={
            "LOOPWRIGHT_STORY_ID": sid, "LOOPWRIGHT_ATTEMPT": str(attempt), "LOOPWRIGHT_BASE": base})
        if r.returncode:
            return None, f"script of {sid} attempt {attempt} ended with {r.returncode}: {(r.stdout + r.stderr)[-600:]}"
        sh(["git", "add", "-A"], d)
        t = sh(["git", "write-tree"], d).stdout.strip()
        c = sh(["git", "commit-tree", t, "-p", base, "-m", f"{sid} {attempt}"], d).stdout.strip()
        sh(["git", "fetch", "-q", d, c], self.repo, check=False)
        if sh(["git", "cat-file", "-e", c], self.repo, check=False).returncode:
            sh(["git", "update-ref", f"refs/heads/out", c], d)
            sh(["git", "fetch", "-q", d, "refs/heads/out"], self.repo)
        # end what the script left running in the background
        for pidf in glob.glob(os.path.join(self.scene, "*.pid")):
            for pid in open(pidf).read().split():
                try:
                    os.kill(int(pid), 15)
                except (ProcessLookupError, ValueError):
                    pass
            os.remove(pidf)
        return c, r.stdout

    def overlay(self, base, code, tests):
        if not tests:
            return code
        edits = {p: n for p, (_, n) in self.changes(base, tests).items()}
        return self.commit(self.compose(code, edits), base, "candidate")

    def judge(self, sid, attempt, base, cand):
        s = self.stories[sid]
        if self.c["flow"] == "solo" or s.get("judge", "honest") in ("pass", "honest"):
            return True, ""
        d = self.checkout(cand, "judge")
        open(f"{self.scene}/prompt-judge-{sid}-{attempt}", "w").write("oracle's prompt\n")
        r = self.script(s["judge"], d, env={"LOOPWRIGHT_STORY_ID": sid, "LOOPWRIGHT_ATTEMPT": str(attempt), "LOOPWRIGHT_BASE": base,
                                            "LOOPWRIGHT_CANDIDATE": cand}, stdin="oracle's prompt\n")
        v = json.loads(r.stdout[r.stdout.index("{"):])
        if v["verdict"] == "PASS" and {c["criterion"] for c in v["criteria"]} != set(s["criteria"]):
            raise Bad(f"judge of {sid} does not name the criteria")
        return v["verdict"] == "PASS", v["reason"]

    # --- 1 and 2: alone and together
    def alone(self):
        errs = []
        if not self.checks(self.base)["green"]:
            errs.append("the base is not green:\n" + self.checks(self.base)["log"][-1500:])
        self.made = {}
        for sid in self.topo():
            s, b = self.stories[sid], self.base
            for dep in s.get("depends_on", []):
                m = self.made[dep]
                t, why = self.restack(m["base"], m["cand"], b)
                b = self.commit(t, b, dep)
            code, out = self.agent(s["implement"], b, sid, 1, prompt="first attempt\n")
            if code is None:
                raise Bad(out)
            tests, red_first = None, set()
            if s.get("write"):
                tests, out = self.agent(s["write"], b, sid, 1, prompt="write tests\n")
                if tests is None:
                    raise Bad(out)
                ans = json.loads(out[out.index("{"):])
                named = {c["criterion"] for c in ans["criteria"]}
                if named != set(s["criteria"]):
                    errs.append(f"{sid}: the writer names {named}")
                if not any(p for p in self.changes(b, tests)):
                    errs.append(f"{sid}: the writer wrote nothing")
                bt = self.checks(tests)
                if bt["green"]:
                    errs.append(f"{sid}: its tests are green without the code")
            elif self.c["flow"] == "quartet":
                errs.append(f"{sid}: no write in quartet")
            if code and not self.changes(b, code):
                errs.append(f"{sid}: implement changes nothing")
            cand = self.overlay(b, code, tests)
            r, rb = self.checks(cand), self.checks(b)
            proven = {n for n, ok in r["tests"].items() if ok and not rb["tests"].get(n)}
            gone = [n for n, ok in rb["tests"].items() if ok and n not in r["tests"]]
            if s.get("write"):
                want = {t for c in ans["criteria"] for t in c.get("tests", [])}
                miss = [t for t in want if not any(n == t or n.endswith("::" + t) or n.endswith(" " + t) for n in proven)]
                if miss and r["green"]:
                    errs.append(f"{sid}: named tests are not proven: {miss} (proven: {sorted(proven)})")
            is_ = "green" if r["green"] else "red"
            said = self.c.get("alone", {}).get(sid, "green")
            if is_ != said:
                errs.append(f"{sid} alone is {is_}, said {said}:\n{r['log'][-2500:]}")
            if gone:
                errs.append(f"note: {sid} alone loses the tests {gone}") if not self.c.get("loses") else None
            self.made[sid] = {"base": b, "cand": cand, "proven": proven}
        return errs

    def topo(self):
        done = []
        while len(done) < len(self.stories):
            for sid, s in self.stories.items():
                if sid not in done and all(d in done for d in s.get("depends_on", [])):
                    done.append(sid)
        return done

    def merge(self, ids, renames=False):
        d = os.path.join(self.dir, "merge")
        shutil.rmtree(d, ignore_errors=True)
        self.g("worktree", "prune")
        self.g("worktree", "add", "-q", "--detach", "-f", d, self.base)
        for sid in ids:
            a = ["cherry-pick", "--allow-empty", "--keep-redundant-commits"] + ([] if renames else ["-X", "no-renames"])
            r = self.g(*a, self.made[sid]["cand"], check=False, cwd=d)
            if r.returncode:
                return "conflict", r.stdout + r.stderr
        head = self.g("rev-parse", "HEAD", cwd=d)
        r = self.checks(head)
        want = set().union(*[self.made[i]["proven"] for i in ids])
        gone = [n for n in want if not r["tests"].get(n)]
        base_gone = [n for n, ok in self.checks(self.base)["tests"].items() if ok and n not in r["tests"]]
        if r["green"] and gone and self.c.get("alone"):
            gone = []
        return ("green" if r["green"] and not gone else "red"), f"proving tests gone: {gone}\n" + r["log"][-1500:]

    def together(self):
        errs = []
        order = [i for i in dict.fromkeys(e.split("#")[0] for e in self.c.get("ends_order", []))]
        ids = order + [i for i in self.topo() if i not in order]
        if any(s.get("depends_on") for s in self.stories.values()):
            ids = self.topo()
        page = self.merge(ids)
        # git without renames and the page's rules differ in names equal but for case
        tree, why = self.base, None
        head = self.base
        for sid in ids:
            t, why = self.restack(self.made[sid]["base"] if not self.stories[sid].get("depends_on") else self.made[sid]["base"],
                                  self.made[sid]["cand"], head) if not self.stories[sid].get("depends_on") else ("dep", None)
            if t == "dep":
                continue
            if t is None:
                break
            head = self.commit(t, head, sid)
        got = "conflict" if t is None else page[0]
        if got != self.c["together"]:
            errs.append(f"together is {got}, said {self.c['together']}: {why}\n{page[1]}")
        g = self.merge(ids, renames=True)[0]
        said = self.c.get("git_together", self.c["together"])
        if g != said:
            errs.append(f"git says {g}, said {said}")
        for pair, said in self.c.get("pairs", {}).items():
            got, log = self.merge(pair.split("+"))
            if got != said:
                errs.append(f"{pair} is {got}, said {said}\n{log}")
        return errs

    # --- 3: landing by the page's rules
    def simulate(self, last_in=False):
        c, n = self.c, self.c["parallel"]
        head, trace, landed = self.base, [], []
        st = {i: {"attempts": 0, "returns": 0, "state": "pending", "former": None, "tests": None, "told": ""} for i in self.stories}
        active, entries = [], [e if "#" in e else e + "#1" for e in c.get("ends_order", [])]
        answers = {}
        for _ in range(200):
            alone_next = [i for i in active if st[i]["returns"] >= 2]
            for i, s in self.stories.items():
                if alone_next or len(active) >= n:
                    break
                q = st[i]
                if q["state"] not in ("pending", "rejected") or i in active:
                    continue
                if any(st[d]["state"] != "passed" for d in s.get("depends_on", [])):
                    continue
                fs = set(s.get("files", []))
                if any(fs & set(self.stories[a].get("files", [])) for a in active):
                    continue
                q["base"], q["state"] = head, "active"
                q["attempts"] += 1
                active.append(i)
                if q["returns"] >= 2:
                    alone_next = [i]
            if not active:
                break
            pick = None
            if alone_next:
                pick = alone_next[0]
                if f"{pick}#{st[pick]['attempts']}" in entries:
                    entries.remove(f"{pick}#{st[pick]['attempts']}")
            while pick is None and entries:
                e = entries[0]
                i, a = e.split("#")
                if i in active and st[i]["attempts"] == int(a):
                    pick = i
                    entries.pop(0)
                else:
                    raise Bad(f"ends_order: {e} cannot end now; active {[(x, st[x]['attempts']) for x in active]}; {trace}")
            if pick is None:
                pick = active[-1] if last_in else active[0]
            active.remove(pick)
            head = self.attempt(pick, st[pick], head, trace, landed, answers)
        passed = [i for i in st if st[i]["state"] == "passed"]
        return head, st, passed, landed, trace, answers

    def attempt(self, i, q, head, trace, landed, answers):
        s, n = self.stories[i], q["attempts"]
        text = s["implement"] if n == 1 else s.get("implement_again", s["implement"])

        def fail(why):
            trace.append(f"{i}#{n} fails: {why[:300]}")
            q["told"] = why
            q["state"] = "rejected" if n - q["returns"] < self.c["retries"] + 1 else "named"
            return head

        def back(why):
            q["returns"] += 1
            trace.append(f"{i}#{n} sent back: {why[:160]}")
            q["told"] = why + "\nlanded meanwhile: " + ", ".join(landed) + "\n" + self.g("diff", "--stat", q["base"], head)
            if q["returns"] <= 2:
                q["state"] = "rejected"
            else:
                q["returns"] = 2
                q["state"] = "rejected" if n - 2 < self.c["retries"] + 1 else "named"
            return head

        code, out = self.agent(text, q["base"], i, n, former=q["former"], prompt=f"story {i}, attempt {n}\n{q['told']}\n")
        if code is None:
            return fail(out)
        if re.search(r'^\{"question"', out, re.M):
            q["state"] = "asks"
            trace.append(f"{i}#{n} asks")
            return head
        tests = None
        if s.get("write"):
            if q["tests"]:
                tb, tc = q["tests"]
                if tb == q["base"]:
                    tests = tc
                else:
                    t, why = self.restack(tb, tc, q["base"])
                    tests = self.commit(t, q["base"], "tests") if t else None
                    if t and self.checks(tests)["green"]:
                        trace.append(f"{i}#{n}: restacked tests prove nothing, written again")
                        tests = None
            if tests is None:
                tests, out = self.agent(s["write"], q["base"], i, n, prompt="write tests\n")
                if tests is None:
                    return fail(out)
            q["tests"] = (q["base"], tests)
        cand = self.overlay(q["base"], code, tests)
        q["former"] = code
        r, rb = self.checks(cand), self.checks(q["base"])
        if not r["green"]:
            return fail("red: " + r["log"][-1800:])
        proven = {x for x, ok in r["tests"].items() if ok and not rb["tests"].get(x)}
        if self.c["flow"] == "quartet" and not proven:
            return fail("nothing is proven")
        ok, why = self.judge(i, n, q["base"], cand)
        if not ok:
            return fail("judge: " + why)
        if any(p.startswith(".claude/") for p in self.changes(q["base"], cand)):
            q["state"] = "asks"
            trace.append(f"{i}#{n} asks: agent configuration")
            return head
        if q["base"] != head:
            t, cls = self.restack(q["base"], cand, head)
            if t is None:
                return back("conflict: " + ", ".join(cls))
            extra = set(self.changes(head, t)) - set(self.changes(q["base"], cand))
            if extra:
                raise Bad(f"restack touches {extra}")
            new = self.commit(t, head, i)
            r2, rh = self.checks(new), self.checks(head)
            gone = [x for x in proven if not r2["tests"].get(x)]
            # tests that the story itself removes or moves under another name are its own affair
            lost = [x for x, ok in rh["tests"].items() if ok and not r2["tests"].get(x) and not (x in rb["tests"] and x not in r["tests"])]
            if not r2["green"] or gone or lost:
                return back(f"red on what landed: gone {gone + lost}\n" + r2["log"][-1800:])
            ok, why = self.judge(i, n, head, new)
            if not ok:
                return back("judge in the lane: " + why)
            trace.append(f"{i}#{n} lands, {cls}")
            cand = new
        else:
            trace.append(f"{i}#{n} lands as it is")
        q["state"] = "passed"
        landed.append(i)
        return cand

    def expected(self, last_in=False):
        errs, e = [], self.c["expect"]
        head, st, passed, landed, trace, _ = self.simulate(last_in)
        self.trace = trace
        if not set(e["passed"]) <= set(passed):
            errs.append(f"should have passed: {set(e['passed']) - set(passed)}")
        if set(e["not_passed"]) & set(passed):
            errs.append(f"should not have passed: {set(e['not_passed']) & set(passed)}")
        backs = sorted(i for i in st if st[i]["returns"])
        if "sent_back" in e and sorted(e["sent_back"]) != backs:
            errs.append(f"sent back: {backs}")
        for i, n in e.get("returns", {}).items():
            if st[i]["returns"] != n:
                errs.append(f"{i} returned {st[i]['returns']} times")
        if "order" in e and e["order"] != landed:
            errs.append(f"order {landed}")
        for a, b in e.get("before", []):
            if a in landed and b in landed and landed.index(a) > landed.index(b):
                errs.append(f"{b} landed before {a}")
        asks = sum(q["state"] == "asks" for q in st.values())
        if asks != e.get("asks", 0):
            errs.append(f"{asks} questions")
        for _ in range(e.get("head_tries", 1)):
            r = self.measure(head)
            if r["green"]:
                break
        if not r["green"]:
            errs.append("the head is red: " + r["log"][-1500:])
        d = self.checkout(head, "truth")
        if self.c["checks"].get("setup"):
            self.script(self.c["checks"]["setup"], d)
        r = self.script(e["truth"], d)
        if r.returncode:
            errs.append(f"truth: {r.returncode} {r.stdout[-800:]}{r.stderr[-800:]}")
        # the truth must not hold on the base
        if e["passed"]:
            d = self.checkout(self.base, "truth")
            if self.c["checks"].get("setup"):
                self.script(self.c["checks"]["setup"], d)
            if self.script(e["truth"], d).returncode == 0:
                errs.append("truth holds on the base")
        if errs:
            errs.append("trace: " + " | ".join(trace))
        return errs


def form(c):
    errs, ids = [], [s["id"] for s in c["stories"]]
    for k in ("name", "situation", "kind", "ecosystem", "why", "files", "checks", "flow", "parallel", "retries", "stories", "together", "expect"):
        if k not in c:
            errs.append(f"lacks {k}")
    known = {"name", "situation", "kind", "ecosystem", "why", "files", "pre", "checks", "config", "flow", "parallel", "retries", "ends_order",
             "stories", "together", "git_together", "pairs", "alone", "expect", "needs", "by_chance", "loses"}
    errs += [f"unknown key {k}" for k in c if k not in known]
    for s in c["stories"]:
        errs += [f"{s.get('id')}: unknown key {k}" for k in s if k not in
                 {"id", "title", "criteria", "depends_on", "files", "implement", "write", "implement_again", "judge"}]
        errs += [f"{s['id']}: depends on {d}" for d in s.get("depends_on", []) if d not in ids]
    for i in c["expect"]["passed"] + c["expect"]["not_passed"] + [e.split("#")[0] for e in c.get("ends_order", [])]:
        if i not in ids:
            errs.append(f"unknown story {i}")
    return errs


def main():
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    files = [os.path.join(HERE, n + ".json") for n in names] or sorted(glob.glob(os.path.join(HERE, "*.json")))
    wrong = 0
    for f in files:
        c = json.load(open(f))
        t0 = time.time()
        errs, p = form(c), None
        try:
            if c["name"] != os.path.basename(f)[:-5]:
                errs.append("name")
            p = Play(c)
            errs += p.alone()
            errs += p.together()
            errs += p.expected()
            if not c.get("ends_order"):
                errs += ["last in: " + x for x in p.expected(last_in=True)]
        except Bad as e:
            errs.append(f"broken: {e}")
        notes = [x for x in errs if x.startswith("note:")]
        errs = [x for x in errs if not x.startswith("note:")]
        wrong += bool(errs)
        print(f"{'WRONG' if errs else 'ok   '} {c['name']:42} {c['together']:9} {time.time() - t0:5.0f}s {p.runs if p else 0:3} commands", flush=True)
        for x in notes:
            print("   ", x)
        for x in errs:
            print("    -", x.replace("\n", "\n      "))
        if VERBOSE and p and hasattr(p, "trace"):
            print("   ", " | ".join(p.trace))
        if p and not errs:
            shutil.rmtree(p.dir, ignore_errors=True)
    print(f"{len(files)} cases, {wrong} wrong")
    sys.exit(bool(wrong))


main()
