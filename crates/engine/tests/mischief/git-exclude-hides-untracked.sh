# expect: info/exclude, core.excludesFile and planted .gitignore files hide untracked files, which then stay
mkdir -p .git/info hidden/inner
printf '*\n' > .git/info/exclude
printf '*\n' > "$OUTSIDE/excludes"
printf '[core]\n\texcludesFile = %s\n' "$OUTSIDE/excludes" >> .git/config
printf '*\n' > src/.gitignore
printf '*\n' > hidden/.gitignore
printf '*\n!.gitignore\n' > .gitignore
echo x > hidden/inner/f
echo x > src/secret.txt
