# expect: a file system mounted over the checkout folder itself is put right, and all is gone when it is unmounted
# cleanup: umount the checkout folder itself (from outside of it)
[ "$(id -u)" = 0 ] || exit 77
here=$(pwd -P)
mount -t tmpfs -o size=64m,mode=0755 none "$here" 2>/dev/null || exit 77
cp -a ./. "$here/"
