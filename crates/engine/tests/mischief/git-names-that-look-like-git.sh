# expect: folders named like .git are spared by a name test that ignores case or looks at prefixes only
mkdir -p .GIT .Git 'src/.git' .git2 .github '.git ' git~1 .git. tests/.git/objects
for d in .GIT .Git src/.git .git2 .github '.git ' git~1 .git. tests/.git/objects; do echo x > "$d/f"; done
echo x > .gitkeep
echo x > .gitattributes.bak
echo 'gitdir: nowhere' > 'with space/.git'
ln -s ../.git src/deep/.git
