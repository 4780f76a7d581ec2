# expect: a new parent folder with odd mode around an untouched inner folder is not looked at
mv src/deep deep-old
mkdir src/deep
chmod 0700 src/deep
mv deep-old/er src/deep/er
rmdir deep-old
