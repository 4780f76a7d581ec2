# expect: tracked files keep a second name outside, through which they can be changed during the next run
mkdir "$OUTSIDE/doors"
n=0
for f in README.md run.sh src/a.txt src/b.txt src/d.txt src/deep/er/x.txt empty.txt tests/t1.sh .gitignore; do
	n=$((n + 1))
	ln "$f" "$OUTSIDE/doors/$n"
done
