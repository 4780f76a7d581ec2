# expect: other targets of the same length with times put back are missed
cp -P -p link "$OUTSIDE/.l"
cp -P -p dirlink "$OUTSIDE/.d"
ln -sfn src/d.txt link
ln -sfn SRC dirlink
touch -h -r "$OUTSIDE/.l" link
touch -h -r "$OUTSIDE/.d" dirlink
rm "$OUTSIDE/.l" "$OUTSIDE/.d"
