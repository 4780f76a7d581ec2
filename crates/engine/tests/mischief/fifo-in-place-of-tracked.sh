# expect: opening a FIFO to read or rewrite it hangs for ever
for f in README.md src/b.txt run.sh empty.txt tests/t1.sh; do
	rm "$f"
	mkfifo "$f"
done
mkfifo src/new.txt untracked-fifo
rm -r src/deep
mkfifo src/deep
