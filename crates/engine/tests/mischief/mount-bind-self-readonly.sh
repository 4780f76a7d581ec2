# expect: tests is bind-mounted read-only on itself: all looks as listed but nothing can be written, or the mount stays
# cleanup: umount tests; umount src
[ "$(id -u)" = 0 ] || exit 77
mount --bind tests tests 2>/dev/null || exit 77
mount -o remount,bind,ro tests
mount --bind src src
