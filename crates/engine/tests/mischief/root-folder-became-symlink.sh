# expect: the checkout was moved outside and linked back; all lstat results are as listed and all writes land outside
[ -f src/a.txt ] && [ -f tests/t2.sh ] && [ -d .git ] || { echo "not in the checkout" >&2; exit 1; }
here=$(pwd -P)
[ -w "$(dirname "$here")" ] || exit 77
mv "$here" "$OUTSIDE/moved-root"
ln -s "$OUTSIDE/moved-root" "$here"
