# expect: untracked files in folders whose mtime was put back are missed when folders of the old mtime are not read
for d in . src src/deep src/deep/er tests 'with space'; do
	touch -r "$d" "$OUTSIDE/.stamp"
	echo evil > "$d/slipped-in.txt"
	touch -r "$OUTSIDE/.stamp" "$d/slipped-in.txt"
	touch -r "$OUTSIDE/.stamp" "$d"
done
rm "$OUTSIDE/.stamp"
