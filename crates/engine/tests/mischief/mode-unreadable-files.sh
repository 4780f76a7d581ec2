# expect: files of mode 000 or write-only can't be opened for a content check and the program gives up or leaves them
printf 'Z\n' > src/b.txt
chmod 000 src/a.txt src/b.txt src/c.txt run.sh .gitignore
chmod 0222 src/d.txt
chmod 0444 src/deep/er/x.txt empty.txt
echo x > untracked; chmod 000 untracked
