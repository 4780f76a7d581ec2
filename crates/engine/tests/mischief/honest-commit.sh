# expect: (honest) the agent committed its work, so "HEAD" of its repository is not the wanted commit and status is clean
command -v git >/dev/null 2>&1 || exit 77
git rev-parse --git-dir >/dev/null 2>&1 || exit 77
echo 'done' >> README.md
git mv src/a.txt src/renamed.txt 2>/dev/null || mv src/a.txt src/renamed.txt
echo x > src/added.txt
git rm -q --cached src/d.txt 2>/dev/null || true
git add -A
git -c user.name=x -c user.email=x@example.invalid commit -q --no-gpg-sign -m work
git checkout -q -b side
echo y > src/added.txt
git -c user.name=x -c user.email=x@example.invalid commit -q --no-gpg-sign -a -m more
git tag v1
