# expect: an outside folder that has files of the tracked names with the right texts, but other links and modes, is accepted
mkdir "$OUTSIDE/twin" "$OUTSIDE/spare"
cp -p tests/t1.sh tests/t2.sh "$OUTSIDE/twin/"
ln "$OUTSIDE/twin/t2.sh" "$OUTSIDE/spare/t2-back-door.sh"
chmod 0666 "$OUTSIDE/twin/t1.sh"
mv tests "$OUTSIDE/spare/tests-before"
mv "$OUTSIDE/twin" tests
