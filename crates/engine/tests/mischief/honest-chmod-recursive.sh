# expect: (honest) chmod -R leaves odd modes on all files and folders, with texts untouched
chmod -R a+rwX .
chmod -R g+w,o-rwx src tests
chmod +x tests/*.sh src/*.txt
