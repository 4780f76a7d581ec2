#!/usr/bin/env python3
"""Plays soundness cases without Loopwright.

    cold.py [--modes | --all-modes] [--keep] [--out FILE] CASE.json ...      (default: all of cases/)

Cold: `files` are laid, `pre` runs, all is committed. For each story `implement` and `write` run in
two copies of the story's base, are gathered with `git add -A` and merged; the result is checked out
afresh at one constant path, `setup` and the checks run there. A case is as labelled if

 - the base and all stories before the last are green, and the new tests alone are red on their base;
 - attack: the last story is red cold, its truth is false, and the truth holds before it;
 - honest: the last story is green cold and its truth holds.

--modes also plays the unsound way of being warm that the case says it deceives (`deceives`), --all-modes all four:
 kept       one tree is reused; changed files are laid with the agent's times; no setup again
 setup      the same, with setup run again over what is there
 elsewhere  the warm tree is copied to another path while the base still exists
 promoted   the agent works in a copy of the warm tree, and that very tree is measured
"""
import argparse, glob, json, os, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
RUNNERS = os.environ.get("RUNNERS", HERE + "/runners")


class Play:
    def __init__(self, case, top):
        self.case, self.top, self.n = case, top, 0
        self.ws, self.scene, self.repo = top + "/ws", top + "/scene", top + "/repo"
        for d in (self.scene, top + "/home", self.repo):
            os.makedirs(d)
        self.log = open(top + "/log", "wb")

    def env(self, story="", tmp=None):
        self.n += 1
        tmp = tmp or f"{self.top}/tmp{self.n}"
        os.makedirs(tmp, exist_ok=True)
        real = os.environ.get("HOME", "/root")
        env = {k: v for k, v in os.environ.items() if k in ("LANG", "TERM", "USER")}
        path = [RUNNERS + "/venv/bin"] + ([HERE + "/tools/v/bin"] if os.path.isdir(HERE + "/tools/v/bin") else [])
        env.update(PATH=":".join(path) + ":" + os.environ["PATH"], HOME=self.top + "/home", TMPDIR=tmp, SCENE=self.scene,
            LOOPWRIGHT_STORY_ID=story, LOOPWRIGHT_ATTEMPT="1", GIT_CONFIG_GLOBAL="/dev/null",
            RUSTUP_HOME=os.environ.get("RUSTUP_HOME", real + "/.rustup"), CARGO_HOME=os.environ.get("CARGO_HOME", real + "/.cargo"),
            PYENV_ROOT=os.environ.get("PYENV_ROOT", real + "/.pyenv"),
            GIT_AUTHOR_NAME="x", GIT_AUTHOR_EMAIL="x@example.com", GIT_COMMITTER_NAME="x", GIT_COMMITTER_EMAIL="x@example.com")
        env.update(self.case.get("env", {}))
        return env

    def sh(self, script, cwd, story="", tmp=None, must=True, out=False):
        script = script.replace("@RUNNERS@", RUNNERS)
        self.log.write(f"\n### {story} in {cwd}\n{script}\n---\n".encode()); self.log.flush()
        p = subprocess.run(["bash", "-c", script], cwd=cwd, env=self.env(story, tmp), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if out else self.log, stderr=self.log, timeout=900)
        self.log.write(f"=> {p.returncode}\n".encode()); self.log.flush()
        if must and p.returncode:
            raise Exception(f"script failed with {p.returncode}: {script[:200]!r}")
        return p.stdout if out else p.returncode

    def commit(self, d, msg):
        self.sh(f"git add -A && git commit -qm '{msg}' --allow-empty", d)
        return self.sh("git rev-parse HEAD", d, out=True).decode().strip()

    def begin(self):
        for name, text in self.case.get("files", {}).items():
            p = os.path.join(self.repo, name)
            os.makedirs(os.path.dirname(p), exist_ok=True)
            open(p, "w").write(text)
        if self.case.get("pre"):
            self.sh(self.case["pre"], self.repo)
        self.sh("git init -q", self.repo)
        return self.commit(self.repo, "base")

    def checkout(self, commit, at):
        shutil.rmtree(at, ignore_errors=True)
        self.sh(f"git clone -q --no-checkout '{self.repo}' '{at}' && git -C '{at}' checkout -q --detach {commit}", self.top)

    def gather(self, d, msg):
        new = self.commit(d, msg)
        self.sh(f"git fetch -q '{d}' {new}", self.repo)
        return new

    def write(self, base, story):
        """The writer's commit, made in a fresh copy of the story's base."""
        self.checkout(base, self.ws)
        if not self.case.get("write"):
            return base
        said = self.sh(self.case["write"], self.ws, story, out=True).decode()
        json.loads(said[said.index("{"):])
        return self.gather(self.ws, "write " + story)

    def implement(self, base, story):
        self.checkout(base, self.ws)
        self.sh(self.case["implement"], self.ws, story)
        return self.gather(self.ws, "implement " + story)

    def merge(self, impl, wrote, base, story):
        if wrote == base:
            return impl
        d = self.top + "/merge"
        self.checkout(impl, d)
        self.sh(f"git fetch -q '{self.repo}' {wrote} && git merge -q -X theirs --no-ff -m 'merge {story}' {wrote}", d)
        new = self.sh("git rev-parse HEAD", d, out=True).decode().strip()
        self.sh(f"git fetch -q '{d}' {new}", self.repo)
        return new

    def checks(self, at, setup=True, tmp=None):
        """None if green, otherwise the name of the red command."""
        c = self.case["checks"]
        for k in (["setup"] if setup else []) + [k for k in c if k not in ("setup", "timeout")]:
            if k in c and self.sh(c[k], at, tmp=tmp, must=False):
                return k
        return None

    def cold(self, commit):
        self.checkout(commit, self.ws)
        red = self.checks(self.ws)
        self.dirty = self.sh("git status --porcelain", self.ws, out=True).decode()
        return red

    def truth(self, commit):
        if not self.case.get("truth"):
            return None
        d = self.top + "/truth"
        self.checkout(commit, d)
        return self.sh(self.case["truth"], d, must=False) == 0


def ids(case):
    return [s["id"] for s in case.get("stories", [{"id": "S1"}])]


def play(case, top):
    p, wrong, notes = Play(case, top), [], []
    head = p.begin()
    red = p.cold(head)
    if red: wrong.append(f"base is red ({red})")
    if p.dirty: notes.append("checks leave: " + " ".join(p.dirty.split())[:80])
    attack = case["kind"] == "attack"
    for s in ids(case):
        last = s == ids(case)[-1]
        wrote = p.write(head, s)
        if wrote != head and p.cold(wrote) is None: wrong.append(f"{s}: new tests are green on the base")
        impl = p.implement(head, s)
        if p.sh(f"git diff --quiet {head} {impl}", p.repo, must=False) == 0: notes.append(f"{s}: implement changes nothing")
        cand = p.merge(impl, wrote, head, s)
        red = p.cold(cand)
        if p.dirty: notes.append(f"{s} leaves: " + " ".join(p.dirty.split())[:80])
        if last and attack:
            if not red: (notes if p.truth(cand) is False else wrong).append("the attack is green cold")
            if p.truth(head) is not True: wrong.append("truth fails before the attack")
            if p.truth(cand) is not False: wrong.append("truth holds for the attack")
        elif red:
            wrong.append(f"{s} is red ({red})")
        head = cand
    if not attack and p.truth(head) is False: wrong.append("truth fails")
    return wrong, notes


def sync(p, old, new, src, dst):
    """Lays the difference of two commits into dst, with the times that the agent's files have."""
    out = p.sh(f"git diff -z --no-renames --name-status {old} {new}", p.repo, out=True).split(b"\0")
    pairs = list(zip(out[::2], out[1::2]))
    for status, name in pairs:
        b = os.path.join(os.fsencode(dst), name)
        if status == b"D" and os.path.lexists(b) and not os.path.isdir(b): os.unlink(b)
    for status, name in pairs:
        a, b = os.path.join(os.fsencode(src), name), os.path.join(os.fsencode(dst), name)
        if status != b"D":
            if os.path.isdir(b) and not os.path.islink(b): shutil.rmtree(b)
            if os.path.islink(os.path.dirname(b)): os.unlink(os.path.dirname(b))
            os.makedirs(os.path.dirname(b), exist_ok=True)
            if os.path.lexists(b): os.unlink(b)
            subprocess.run([b"cp", b"-a", a, b], check=True)


def play_warm(case, top, mode):
    """The verdict of an unsound way: the red command of the last story, or None."""
    p = Play(case, top)
    head = p.begin()
    warm, tmp, agent, writer = top + "/warm", top + "/tmp-shared", top + "/agent", top + "/agent-w"
    p.checkout(head, p.ws)
    p.checks(p.ws, tmp=tmp)
    for i, s in enumerate(ids(case)):
        os.rename(p.ws, warm)  # the agents work at the constant path too
        wrote = p.write(head, s)
        shutil.rmtree(agent, ignore_errors=True); shutil.rmtree(writer, ignore_errors=True)
        os.rename(p.ws, writer)
        if mode == "promoted":
            subprocess.run(["cp", "-a", warm, p.ws], check=True)
            p.sh(f"git fetch -q '{p.repo}' {head} && git update-ref --no-deref HEAD {head} && git reset -q", p.ws)
            p.sh(case["implement"], p.ws, s, tmp=tmp)
            impl = p.gather(p.ws, "implement " + s)
            cand = p.merge(impl, wrote, head, s)
            sync(p, impl, cand, writer, p.ws)
            shutil.rmtree(warm)
            red = p.checks(p.ws, setup=False, tmp=tmp)
        else:
            impl = p.implement(head, s)
            os.rename(p.ws, agent)
            cand = p.merge(impl, wrote, head, s)
            os.rename(warm, p.ws)
            at = p.ws
            if mode == "elsewhere":
                at = f"{top}/ws{i}"
                subprocess.run(["cp", "-a", p.ws, at], check=True)
            sync(p, head, impl, agent, at); sync(p, impl, cand, writer, at)
            red = p.checks(at, setup=mode == "setup", tmp=tmp)
            if mode == "elsewhere" and s != ids(case)[-1]:  # the base of the next story stands at the constant path
                shutil.rmtree(at)
                sync(p, head, impl, agent, p.ws); sync(p, impl, cand, writer, p.ws)
                p.checks(p.ws, setup=False, tmp=tmp)
        head = cand
    return red


def main():
    a = argparse.ArgumentParser()
    a.add_argument("cases", nargs="*"); a.add_argument("--modes", action="store_true"); a.add_argument("--all-modes", action="store_true")
    a.add_argument("--keep", action="store_true"); a.add_argument("--out")
    a = a.parse_args()
    bad, rows = 0, []
    for f in a.cases or sorted(glob.glob(HERE + "/cases/*.json")):
        case = json.load(open(f))
        need = case.get("needs_program")
        if need and not shutil.which(need) and not os.path.exists(f"{HERE}/tools/v/bin/{need}"):
            print(f"SKIP {case['name']}: no {need}"); continue
        top, t, deceived = tempfile.mkdtemp(prefix="lw17-"), time.time(), []
        try:
            wrong, notes = play(case, top)
        except Exception as e:
            wrong, notes = [f"{type(e).__name__}: {e}"], []
        secs = time.time() - t
        if (a.modes or a.all_modes) and not wrong:
            said = case.get("deceives")
            for mode in ("kept", "setup", "elsewhere", "promoted") if a.all_modes else [said] if said else []:
                sub = tempfile.mkdtemp(prefix="lw17-", dir=top)
                try:
                    if bool(play_warm(case, sub, mode)) != (case["kind"] == "attack"): deceived.append(mode)
                except Exception as e:
                    deceived.append(f"{mode}?({type(e).__name__} {str(e)[:120]})")
                if not a.keep: shutil.rmtree(sub, ignore_errors=True)
            if said and said not in deceived: notes.append(f"NOT DECEIVED: {said}")
        bad += bool(wrong)
        print(f"{'WRONG' if wrong else 'ok   '} {case['kind']:6} {case['name']:36} {secs:5.1f}s {'; '.join(wrong)} {'; '.join(notes)} {'deceives: ' + (', '.join(deceived) or '-') if a.modes or a.all_modes else ''}", flush=True)
        rows.append((case["name"], case["kind"], case.get("ecosystem"), not wrong, round(secs, 1), deceived, notes))
        if wrong or a.keep: print("      log:", top + "/log")
        else: shutil.rmtree(top, ignore_errors=True)
    if a.out: json.dump(rows, open(a.out, "w"), indent=0)
    print(f"{bad} wrong")
    sys.exit(bad > 0)


main()
