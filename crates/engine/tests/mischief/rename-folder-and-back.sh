# expect: (nearly honest) folders renamed and put back are fine, but the file slipped in meanwhile stays
mv src elsewhere; mv elsewhere src
mv src/deep "$OUTSIDE/deep"; : > "$OUTSIDE/deep/er/slipped-in"; mv "$OUTSIDE/deep" src/deep
mv 'with space' ws; mv ws 'with space'
