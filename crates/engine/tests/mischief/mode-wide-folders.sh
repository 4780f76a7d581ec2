# expect: tracked folders stay at 0777 or sticky, as only modes of files are looked at
chmod 0777 src
chmod 1777 src/deep
chmod 1755 src/deep/er
chmod 0775 'with space'
chmod 0700 tests
