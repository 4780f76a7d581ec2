# expect: recursive removal of an untracked folder goes into a bind mount of $OUTSIDE and deletes what is there
# cleanup: umount junk/out; umount tests
[ "$(id -u)" = 0 ] || exit 77
mkdir -p junk/out
mount --bind "$OUTSIDE" junk/out 2>/dev/null || { rm -r junk; exit 77; }
mount --bind "$OUTSIDE/dir" tests
