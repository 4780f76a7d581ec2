# expect: (honest) git's own cleaning removes ignored things and packs the repository; the tree itself is as before
command -v git >/dev/null 2>&1 || exit 77
git rev-parse --git-dir >/dev/null 2>&1 || exit 77
mkdir build; echo x > build/x; echo x > x.log
git clean -qfdx
git gc -q 2>/dev/null || true
git reset -q --hard 2>/dev/null || true
