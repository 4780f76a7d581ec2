# expect: empty.txt is a folder already when commit TWO wants one, so it is taken as it is along with old.txt
rm empty.txt
mv "$OUTSIDE/dir" empty.txt
chmod 0755 empty.txt
