# expect: an edit of the same size with the mtime put back is taken for untouched when only size and mtime are compared
s=$OUTSIDE/.stamp
for f in src/a.txt src/b.txt src/d.txt src/deep/er/x.txt; do
	n=$(wc -c < "$f")
	touch -r "$f" "$s"
	head -c "$n" /dev/zero | tr '\0' 'Z' > "$f"
	touch -r "$s" "$f"
done
rm "$s"
