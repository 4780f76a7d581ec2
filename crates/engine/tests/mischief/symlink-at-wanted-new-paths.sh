# expect: creating src/new.txt and empty.txt/in.txt follows planted links and makes files outside
ln -s "$OUTSIDE/created-through-link" src/new.txt
rm empty.txt
ln -s "$OUTSIDE/dir" empty.txt
rm -r src/deep
ln -s "$OUTSIDE/created-too" src/deep
