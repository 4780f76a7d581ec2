# expect: removing paths that are gone in TWO (src/deep/er/x.txt, src/c.txt) deletes the twins outside
mkdir -p "$OUTSIDE/dir/er" "$OUTSIDE/s/deep/er"
echo mine > "$OUTSIDE/dir/er/x.txt"
echo mine > "$OUTSIDE/dir/er/y.txt"
echo mine > "$OUTSIDE/dir/t1.sh"
rm -r src/deep tests
ln -s "$OUTSIDE/dir" src/deep
ln -s "$OUTSIDE/dir" tests
