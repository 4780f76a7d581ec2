# expect: a tracked folder replaced by an old one from outside keeps the strange old.txt
rm -r src/deep/er
mv "$OUTSIDE/dir" src/deep/er
