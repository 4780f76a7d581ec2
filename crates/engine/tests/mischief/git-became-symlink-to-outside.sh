# expect: .git is a link to outside; removing or renewing the repository deletes or writes the one outside
mv .git "$OUTSIDE/repo"
ln -s "$OUTSIDE/repo" .git
