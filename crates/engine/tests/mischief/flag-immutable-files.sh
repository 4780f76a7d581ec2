# expect: immutable files can't be replaced or removed even by root; the program must notice instead of going on
# cleanup: chattr -R -i .
[ "$(id -u)" = 0 ] || exit 77
command -v chattr >/dev/null 2>&1 || exit 77
printf 'I\n' > src/b.txt
mkdir junk; echo x > junk/stuck
chattr +i src/a.txt 2>/dev/null || exit 77
chattr +i src/b.txt src/c.txt junk/stuck
