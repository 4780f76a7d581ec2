# expect: (honest) an emptied checkout is not filled again, or refilled from an index that says all is there
[ -f src/a.txt ] && [ -f tests/t2.sh ] && [ -d .git ] || { echo "not in the checkout" >&2; exit 1; }
find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
