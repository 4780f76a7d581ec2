# expect: a single file bind-mounted over a tracked one is written through to $OUTSIDE/keep, or EBUSY is swallowed
# cleanup: umount src/a.txt; umount src/b.txt
[ "$(id -u)" = 0 ] || exit 77
mount --bind "$OUTSIDE/keep" src/b.txt 2>/dev/null || exit 77
mount --bind src/d.txt src/a.txt
