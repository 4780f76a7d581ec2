# expect: writing or chmod through the symlinks changes $OUTSIDE/keep
for f in src/a.txt src/b.txt src/d.txt run.sh tests/t2.sh README.md .gitignore; do
	ln -sf "$OUTSIDE/keep" "$f"
done
