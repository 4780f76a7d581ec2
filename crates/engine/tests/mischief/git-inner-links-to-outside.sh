# expect: git writes FETCH_HEAD, logs, index, refs and objects through links, and so spoils things outside
mkdir -p .git/logs "$OUTSIDE/g"
rm -rf .git/logs/HEAD
ln -s "$OUTSIDE/keep" .git/logs/HEAD
ln -sf "$OUTSIDE/keep" .git/FETCH_HEAD
ln -sf "$OUTSIDE/keep" .git/ORIG_HEAD
ln -sf "$OUTSIDE/made-by-git" .git/COMMIT_EDITMSG
for n in objects refs index config; do
	[ -e ".git/$n" ] || continue
	mv ".git/$n" "$OUTSIDE/g/$n"
	ln -s "$OUTSIDE/g/$n" ".git/$n"
done
