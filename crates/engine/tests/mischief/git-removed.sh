# expect: without .git the program's git commands fail or use a repository in a folder further up
rm -rf .git
printf 'Z\n' > src/a.txt
echo x > untracked
