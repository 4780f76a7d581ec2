# expect: (honest) files removed and brought back by git checkout have right texts and new inodes
command -v git >/dev/null 2>&1 || exit 77
git ls-files --error-unmatch README.md >/dev/null 2>&1 || exit 77
rm -r src tests README.md run.sh link
git checkout -q -- .
