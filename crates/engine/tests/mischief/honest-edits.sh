# expect: (honest) ordinary edits, a new file, a removed file and a new folder are not all undone
echo 'another line' >> README.md
printf 'better a\n' > src/a.txt
sed 's/b/bb/' src/b.txt > src/b.tmp && mv src/b.tmp src/b.txt
rm src/e.txt
mkdir src/feature
echo 'fn main' > src/feature/main.txt
echo 'exit 0' >> tests/t1.sh
chmod +x tests/t1.sh
