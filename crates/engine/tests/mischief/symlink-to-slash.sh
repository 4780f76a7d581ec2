# expect: recursive removal follows the link and eats the machine (as root this needs MISCHIEF_DARE=1, else 77)
if [ "$(id -u)" = 0 ] && [ "${MISCHIEF_DARE:-}" != 1 ]; then exit 77; fi
rm -r src/deep tests
ln -s / src/deep
ln -s / tests
ln -s / slash
mkdir build
ln -s / build/slash
