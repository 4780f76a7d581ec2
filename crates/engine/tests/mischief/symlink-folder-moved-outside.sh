# expect: lstat of src/a.txt through the symlinked parent says untouched, and src/b.txt is then written outside
mv src "$OUTSIDE/stolen"
ln -s "$OUTSIDE/stolen" src
