# expect: folders keep flags that hinder nobody (no dump, no access times), since nothing fails because of them
command -v chattr > /dev/null || exit 77
chattr +d src tests 2> /dev/null || exit 77
chattr +A 'with space' 2> /dev/null || exit 77
echo new > src/untracked.txt
