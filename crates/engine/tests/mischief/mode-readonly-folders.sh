# expect: files in read-only folders can't be replaced by an ordinary user, and the folder modes stay
mkdir -p ro/ro2; echo x > ro/ro2/f
printf 'Z\n' > src/b.txt
: > src/untracked
chmod 0555 ro/ro2 ro src src/deep src/deep/er tests
