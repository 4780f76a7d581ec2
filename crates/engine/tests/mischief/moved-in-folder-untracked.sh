# expect: the inner file of a moved-in folder is years older than the checkout and survives a search for what is new
mv "$OUTSIDE/dir" src/zdir
