# expect: a deleted file whose inode number the new (evil) file got again is taken for the old one, mtime and size being equal
i=$(stat -c %i src/a.txt)
touch -r src/a.txt "$OUTSIDE/.stamp"
rm src/a.txt
n=0
while :; do
	printf 'R\n' > src/a.txt
	[ "$(stat -c %i src/a.txt)" = "$i" ] && break
	n=$((n + 1))
	[ "$n" -lt 30 ] || break          # not this file system's way; still a fine case
	mv src/a.txt "$OUTSIDE/.filler$n"
done
rm -f "$OUTSIDE"/.filler*
touch -r "$OUTSIDE/.stamp" src/a.txt
rm "$OUTSIDE/.stamp"
