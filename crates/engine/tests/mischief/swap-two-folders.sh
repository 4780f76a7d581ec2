# expect: inner files of swapped folders have untouched ctimes and known inodes, but are at wrong paths
mv tests t; mv 'with space' tests; mv t 'with space'
mv src/deep/er t2; mv src s2; mv t2 src; mkdir -p s2/deep; mv s2 src/deep
