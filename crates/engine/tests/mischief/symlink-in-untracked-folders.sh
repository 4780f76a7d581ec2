# expect: removal of untracked folders follows inner links and deletes or chmods things outside
mkdir -p junk/inner build/out
ln -s "$OUTSIDE/dir" junk/inner/d
ln -s "$OUTSIDE/keep" junk/k
ln -s "$OUTSIDE" build/out/all
ln -s ../src junk/src
chmod 0500 junk/inner junk
