# expect: settings such as trustctime, fileMode, symlinks, autocrlf, ignoreCase or bare make git see or write something else
cat >> .git/config <<C
[core]
	trustctime = false
	checkStat = minimal
	fileMode = false
	symlinks = false
	ignoreCase = true
	ignoreStat = true
	autocrlf = true
	untrackedCache = true
	bare = true
	sharedRepository = 0666
	quotePath = false
[status]
	showUntrackedFiles = no
[clean]
	requireForce = true
C
touch -r src/a.txt "$OUTSIDE/.stamp"
printf 'Z\n' > src/a.txt
touch -r "$OUTSIDE/.stamp" src/a.txt
rm "$OUTSIDE/.stamp"
chmod +x README.md
rm link; printf 'README.md' > link
echo x > untracked
