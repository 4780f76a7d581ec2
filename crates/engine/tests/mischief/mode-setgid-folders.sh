# expect: the setgid bit on folders stays and is inherited by folders made anew (empty.txt/)
chmod g+s . src src/deep src/deep/er tests || exit 77
[ -g src ] || exit 77
mkdir src/made-after
