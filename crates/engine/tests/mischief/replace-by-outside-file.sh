# expect: a file moved in from outside that is older than the checkout is not seen when only newer files are looked at
mv -f "$OUTSIDE/keep" src/a.txt
mv -f "$OUTSIDE/dir/old.txt" src/new.txt
