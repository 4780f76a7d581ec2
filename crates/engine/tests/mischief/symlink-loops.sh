# expect: links to themselves and to each other give ELOOP or an endless walk
ln -sf a.txt src/a.txt
ln -sf d.txt src/e.txt; ln -sf e.txt src/d.txt
rm -r src/deep tests
ln -s deep src/deep
ln -s tests tests
ln -sfn . dirlink
ln -s ../src src/again
