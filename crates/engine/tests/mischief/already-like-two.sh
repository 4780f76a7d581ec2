# expect: TWO made by hand is accepted as it is, though a mode and one text are not right
printf 'B\n' > src/b.txt
rm src/c.txt
echo 'guess' > src/new.txt
rm -r src/deep; echo 'guess' > src/deep
chmod 0645 run.sh
ln -sf t2.sh tests/t1.sh
ln -sf src/a.txt link
rm empty.txt; mkdir empty.txt; echo 'guess' > empty.txt/in.txt
chmod 0700 empty.txt
