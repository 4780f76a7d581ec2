# expect: src was moved outside and bind-mounted back: device, inode and ctime of all files are as listed, writes land outside
# cleanup: umount src
[ "$(id -u)" = 0 ] || exit 77
mv src "$OUTSIDE/stolen"
mkdir src
mount --bind "$OUTSIDE/stolen" src 2>/dev/null || exit 77
