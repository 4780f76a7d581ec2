# expect: a tracked file's name holds a non-empty tracked folder and the other way round, so unlink and mkdir both fail
mv README.md t; mv tests README.md; mv t tests
mv src/deep t; mv src/a.txt src/deep; mv t src/a.txt
