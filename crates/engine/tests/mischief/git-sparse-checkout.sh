# expect: with a sparse checkout git thinks that src and tests are not wanted and leaves them away
command -v git >/dev/null 2>&1 || exit 77
git ls-files --error-unmatch src/a.txt >/dev/null 2>&1 || exit 77
git sparse-checkout set --no-cone README.md >/dev/null 2>&1 || exit 77
