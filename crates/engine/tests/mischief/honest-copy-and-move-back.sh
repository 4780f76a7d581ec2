# expect: (honest) the tree was copied (no -p, umask 002) and put back: inodes, times and modes are new, links became copies
umask 002
mkdir "$OUTSIDE/copy"
cp -RL src tests 'with space' dirlink link README.md run.sh "$OUTSIDE/copy/"
rm -r src tests 'with space' dirlink link README.md run.sh
mv "$OUTSIDE/copy/src" "$OUTSIDE/copy/tests" "$OUTSIDE/copy/with space" "$OUTSIDE/copy/dirlink" .
mv "$OUTSIDE/copy/link" "$OUTSIDE/copy/README.md" "$OUTSIDE/copy/run.sh" .
rmdir "$OUTSIDE/copy"
