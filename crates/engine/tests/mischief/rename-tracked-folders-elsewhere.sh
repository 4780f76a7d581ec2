# expect: known inodes with old ctimes under new folder names are kept because the list knows them
mv src/deep/er er
mv tests src/tests
mv src lib
