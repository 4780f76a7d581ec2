# expect: a planted submodule (gitlink, .gitmodules, update command) is kept, descended into or run
command -v git >/dev/null 2>&1 || exit 77
git rev-parse --git-dir >/dev/null 2>&1 || exit 77
git init -q sub
( cd sub; echo x > f; git add f; git -c user.name=x -c user.email=x@example.invalid commit -q --no-gpg-sign -m x )
printf '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n' > .gitmodules
git -c advice.addEmbeddedRepo=false add sub .gitmodules 2>/dev/null
( cd sub; git -c user.name=x -c user.email=x@example.invalid commit -q --no-gpg-sign --allow-empty -m y )
git submodule absorbgitdirs >/dev/null 2>&1 || true
cat >> .git/config <<C
[submodule]
	recurse = true
[submodule "sub"]
	active = true
	url = ./sub
	update = "!touch '$OUTSIDE/pwned-by-submodule'"
C
echo y > sub/f
mkdir -p src/deep/er/sub2
echo 'gitdir: ../../../../.git/modules/sub' > src/deep/er/sub2/.git
