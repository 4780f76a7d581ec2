# expect: writing src/b.txt to a /dev/null twin "succeeds", reading a /dev/zero twin never ends, and the nodes stay
[ "$(id -u)" = 0 ] || exit 77
rm src/b.txt README.md .gitignore
mknod src/b.txt c 1 3 2>/dev/null || exit 77
mknod README.md c 1 5 || exit 77
mknod .gitignore c 1 5 || exit 77
mknod src/new.txt c 1 3 || exit 77
mknod disk b 240 77 || exit 77
