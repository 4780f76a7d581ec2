# expect: rewriting one of two hard-linked tracked files in place also changes the other one
ln -f src/a.txt src/b.txt
ln -f src/d.txt src/c.txt
ln -f src/d.txt src/new.txt
ln -f tests/t2.sh tests/t1.sh
ln -f README.md run.sh
