# expect: a tmpfs that has all files of src with the right texts and mtimes hides the real folder
# cleanup: umount src
[ "$(id -u)" = 0 ] || exit 77
cp -a src "$OUTSIDE/src-copy"
mount -t tmpfs -o size=1m,mode=0755 none src 2>/dev/null || exit 77
cp -a "$OUTSIDE/src-copy/." src/
