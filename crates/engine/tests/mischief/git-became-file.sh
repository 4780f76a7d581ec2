# expect: .git is a file that points to a repository outside, which is then reset, cleaned or written to
mv .git "$OUTSIDE/repo"
echo "gitdir: $OUTSIDE/repo" > .git
printf 'Z\n' > src/a.txt
