# expect: missing files, links and folders are not made again because only existing ones are compared
rm README.md src/a.txt link src/deep/er/y.txt .gitignore
rm -r tests 'with space'
