# expect: with all of src a link to a look-alike outside, the look-alike is cleaned and written to
mkdir -p "$OUTSIDE/look/deep/er"
for f in a b c d e; do echo "outside $f" > "$OUTSIDE/look/$f.txt"; done
echo outside > "$OUTSIDE/look/deep/er/x.txt"
echo extra > "$OUTSIDE/look/extra.txt"
rm -r src
ln -s "$OUTSIDE/look" src
