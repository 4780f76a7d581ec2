# expect: ignored files and folders stay when cleaning respects .gitignore
mkdir -p build/x src/build tests/build/y
echo x > build/x/out.o
echo x > src/build/poison.txt
echo x > tests/build/y/z
echo x > debug.log
echo x > src/deep/er/trace.log
mkdir dir.log; echo x > dir.log/inner
