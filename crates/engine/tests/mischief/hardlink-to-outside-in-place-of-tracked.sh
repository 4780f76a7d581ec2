# expect: truncating, writing or chmod in place goes through the hard link and spoils $OUTSIDE/keep
chmod 0755 "$OUTSIDE/keep"
for f in src/a.txt src/b.txt run.sh src/deep/er/x.txt tests/t1.sh; do
	ln -f "$OUTSIDE/keep" "$f"
done
ln -f "$OUTSIDE/dir/old.txt" empty.txt
ln "$OUTSIDE/keep" src/new.txt
