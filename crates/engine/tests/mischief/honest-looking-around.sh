# expect: (honest) reading all files and git status change only atimes and .git/index
find . -path ./.git -prune -o -type f -exec cat {} + > /dev/null
ls -lR > /dev/null
if command -v git >/dev/null 2>&1; then
	git status > /dev/null
	git log > /dev/null 2>&1 || true
	git diff > /dev/null
fi
