# expect: assume-unchanged and skip-worktree entries are skipped by git reset, so evil texts stay
command -v git >/dev/null 2>&1 || exit 77
git ls-files --error-unmatch src/a.txt src/d.txt src/e.txt README.md >/dev/null 2>&1 || exit 77
git update-index --assume-unchanged src/a.txt README.md
git update-index --skip-worktree src/d.txt src/e.txt
printf 'Z\n' > src/a.txt
printf 'Z\n' > src/d.txt
rm src/e.txt README.md
