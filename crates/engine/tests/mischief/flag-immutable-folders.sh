# expect: in immutable folders nothing can be made, removed or renamed; errors of single steps must not be swallowed
# cleanup: chattr -R -i .
[ "$(id -u)" = 0 ] || exit 77
command -v chattr >/dev/null 2>&1 || exit 77
mkdir -p junk/in; echo x > junk/in/f
chattr +i src/deep/er 2>/dev/null || exit 77
chattr +i src/deep src junk/in tests
