# expect: two swapped files of equal size and mode pass when the list is keyed by inode or when only size and mtime count
touch -r src/a.txt src/b.txt src/c.txt src/d.txt src/e.txt
mv src/a.txt t; mv src/b.txt src/a.txt; mv t src/b.txt
mv src/d.txt t; mv src/e.txt src/d.txt; mv t src/e.txt
mv tests/t1.sh t; mv tests/t2.sh tests/t1.sh; mv t tests/t2.sh
