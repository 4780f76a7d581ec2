# expect: a plain file holding the link's target text, or a real folder in a link's place, passes a check by content
rm link dirlink
printf 'README.md' > link
cp -R src dirlink
rm tests/t1.sh
printf 't2.sh' > tests/t1.sh
