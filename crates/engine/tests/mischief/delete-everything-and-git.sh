# expect: with .git gone too, git commands run in here find a repository further up and change that one
[ -f src/a.txt ] && [ -f tests/t2.sh ] && [ -d .git ] || { echo "not in the checkout" >&2; exit 1; }
find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +
