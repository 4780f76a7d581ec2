# expect: planted attributes and filters run a command or change texts (CRLF, UTF-16, ident) while files are written
mkdir -p .git/info
for f in .gitattributes src/.gitattributes .git/info/attributes; do
	printf '* filter=evil text eol=crlf ident\n*.txt working-tree-encoding=UTF-16\n' > "$f"
done
cat >> .git/config <<C
[filter "evil"]
	smudge = "touch '$OUTSIDE/pwned-by-smudge'; sed s/^/evil/"
	clean = "touch '$OUTSIDE/pwned-by-clean'; cat"
	required = false
C
printf 'Z\n' > src/a.txt
rm src/d.txt
