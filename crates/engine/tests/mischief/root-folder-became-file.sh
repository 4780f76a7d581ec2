# expect: a plain file stands where the checkout folder was and the program trips over it
[ -f src/a.txt ] && [ -f tests/t2.sh ] && [ -d .git ] || { echo "not in the checkout" >&2; exit 1; }
here=$(pwd -P)
[ -w "$(dirname "$here")" ] || exit 77
mv "$here" "$OUTSIDE/moved-root"
echo 'not a folder' > "$here"
