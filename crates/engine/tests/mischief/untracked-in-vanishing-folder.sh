# expect: ignored and untracked files keep src/deep/er alive, so that src/deep can't become a file
echo x > src/deep/er/z.log
mkdir -p src/deep/er/build/o src/deep/more
echo x > src/deep/er/build/o/x.o
echo x > src/deep/more/notes.txt
