# expect: a temporary name made up by the program exists already as a link to outside and is written through
for f in README.md src/a.txt src/b.txt src/new.txt run.sh tests/t1.sh link; do
	for x in tmp temp new lock bak part swp orig partial '~'; do
		ln -s "$OUTSIDE/keep" "$f.$x"
		ln -s "$OUTSIDE/keep" "$(dirname "$f")/.$(basename "$f").$x"
	done
	ln -s "$OUTSIDE/keep" "$f~"
	ln -s "$OUTSIDE/made-by-temp" "$(dirname "$f")/.tmp-$(basename "$f")"
done
ln -s "$OUTSIDE/dir" tmp
ln -s "$OUTSIDE/dir" .tmp
