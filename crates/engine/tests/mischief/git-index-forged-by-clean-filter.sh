# expect: the index holds the right blob with the evil file's lstat data, so git status is clean and git reset leaves it
command -v git >/dev/null 2>&1 || exit 77
git ls-files --error-unmatch src/a.txt >/dev/null 2>&1 || exit 77
mkdir -p .git/info
echo 'src/a.txt filter=lie' > .git/info/attributes
printf 'Z\n' > src/a.txt
touch -d '2001-01-01 00:00:00' src/a.txt
git -c filter.lie.clean='echo a' add src/a.txt
rm .git/info/attributes
