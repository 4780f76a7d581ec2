# expect: core.worktree leads git reset or clean to $OUTSIDE/dir, and old.txt is lost
printf '[core]\n\tworktree = %s\n' "$OUTSIDE/dir" >> .git/config
printf 'Z\n' > src/a.txt
echo x > untracked
