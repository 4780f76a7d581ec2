# expect: the checkout folder itself is immutable, so even moving it away for a fresh one fails
# cleanup: chattr -i . (the checkout folder itself)
[ "$(id -u)" = 0 ] || exit 77
command -v chattr >/dev/null 2>&1 || exit 77
echo x > untracked
chattr +i . 2>/dev/null || exit 77
