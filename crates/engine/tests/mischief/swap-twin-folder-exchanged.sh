# expect: a folder exchanged for an edited twin with all the times copied (cp -a) is taken for the first one
cp -a src twin
touch -r src/a.txt "$OUTSIDE/.stamp"
printf 'T\n' > twin/a.txt
touch -r "$OUTSIDE/.stamp" twin/a.txt
touch -r src twin
mv src x; mv twin src
mv x "$OUTSIDE/first-src"
rm "$OUTSIDE/.stamp"
