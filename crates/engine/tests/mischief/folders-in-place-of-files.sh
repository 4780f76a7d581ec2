# expect: non-empty folders at names of files and links can't be unlinked or are written into (src/new.txt/new.txt)
for f in README.md src/a.txt link dirlink tests/t1.sh src/new.txt empty.txt; do
	rm -f "$f"
	mkdir -p "$f/sub"
	echo inner > "$f/sub/inner.txt"
	echo inner > "$f/in2.txt"
done
