# expect: an overlay whiteout (char device 0:0, which ordinary users may make) is taken for "deleted"
rm src/a.txt src/c.txt
mknod src/a.txt c 0 0 2>/dev/null || exit 77
mknod src/c.txt c 0 0 || exit 77
mknod .wh.README.md c 0 0 || exit 77
