# expect: the checkout folder itself is gone and the program fails instead of making a fresh one
[ -f src/a.txt ] && [ -f tests/t2.sh ] && [ -d .git ] || { echo "not in the checkout" >&2; exit 1; }
here=$(pwd -P)
[ -w "$(dirname "$here")" ] || exit 77
rm -rf "$here"
