# expect: (honest) after stash the texts are as before but inodes and times differ; must still be right, also modes under umask 077
command -v git >/dev/null 2>&1 || exit 77
git rev-parse --verify -q HEAD >/dev/null 2>&1 || exit 77
umask 077
echo x >> README.md
echo x > src/b.txt
rm src/a.txt
echo x > src/deep/er/x.txt
git -c user.name=x -c user.email=x@example.invalid stash push -q -u
