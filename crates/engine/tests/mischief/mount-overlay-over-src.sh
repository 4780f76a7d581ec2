# expect: an overlay over src shows the listed inode numbers (and ctimes of files not edited); only the device differs, and the mount stays
# cleanup: umount src
[ "$(id -u)" = 0 ] || exit 77
mkdir "$OUTSIDE/up" "$OUTSIDE/wk"
mount -t overlay none -o "lowerdir=$(pwd -P)/src,upperdir=$OUTSIDE/up,workdir=$OUTSIDE/wk" src 2>/dev/null || exit 77
printf 'O\n' > src/a.txt
echo x > src/untracked
