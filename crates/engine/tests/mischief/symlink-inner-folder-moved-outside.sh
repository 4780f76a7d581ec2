# expect: src/deep/er/x.txt is removed through a symlinked folder and so lost outside
mv src/deep/er "$OUTSIDE/er"
ln -s "$OUTSIDE/er" src/deep/er
