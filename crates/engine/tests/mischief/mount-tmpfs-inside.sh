# expect: a tmpfs in the checkout is left, or its mount point can't be removed and the error is swallowed
# cleanup: umount src/deep/er; umount junk/m
[ "$(id -u)" = 0 ] || exit 77
mkdir -p junk/m
mount -t tmpfs -o size=1m none junk/m 2>/dev/null || { rm -r junk; exit 77; }
echo x > junk/m/f
mount -t tmpfs -o size=1m none src/deep/er
