# expect: the walk climbs out through a link to .. and cleans the checkout's neighbours, or tests/t1.sh is written above
rm -r tests
ln -s .. tests
ln -s .. up
ln -s ../.. src/up
rm -r src/deep/er
ln -s ../../.. src/deep/er
