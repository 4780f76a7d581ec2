# expect: a write through a hard link outside that is gone again is missed (same inode, size, mtime and link count)
touch -r src/a.txt "$OUTSIDE/.stamp"
ln src/a.txt "$OUTSIDE/side-door"
printf 'X\n' > "$OUTSIDE/side-door"
rm "$OUTSIDE/side-door"
touch -r "$OUTSIDE/.stamp" src/a.txt
rm "$OUTSIDE/.stamp"
