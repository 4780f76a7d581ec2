# expect: every leaf below a symlinked parent has the listed inode and ctime, so the link is never noticed
rm dirlink
mv src dirlink
ln -s dirlink src
mv tests .tests-real
ln -s .tests-real tests
