# expect: (honest) a formatter rewrote all files by temporary file and rename, so that every inode is new
find . -path ./.git -prune -o -type f -print > "$OUTSIDE/.files"
while IFS= read -r f; do
	sed 's/$/ /' "$f" > "$f.fmt"
	chmod --reference="$f" "$f.fmt"
	mv -f "$f.fmt" "$f"
done < "$OUTSIDE/.files"
rm "$OUTSIDE/.files"
