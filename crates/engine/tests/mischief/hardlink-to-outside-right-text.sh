# expect: the text and mode are right for the wanted commit, so a content check passes, but the file is shared with outside
cp -p src/a.txt "$OUTSIDE/a"
cp -p src/b.txt "$OUTSIDE/b"
printf 'B\n' > "$OUTSIDE/b"
ln -f "$OUTSIDE/a" src/a.txt
ln -f "$OUTSIDE/b" src/b.txt
cp -p README.md "$OUTSIDE/r"
ln -f "$OUTSIDE/r" README.md
