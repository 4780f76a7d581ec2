# expect: append-only files can't be truncated, append-only folders let new files in but none out
# cleanup: chattr -R -a .
[ "$(id -u)" = 0 ] || exit 77
command -v chattr >/dev/null 2>&1 || exit 77
echo x > tests/untracked
echo more >> src/b.txt
chattr +a src/b.txt 2>/dev/null || exit 77
chattr +a tests
