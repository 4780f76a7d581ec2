# expect: (honest) a build left objects, logs, caches, links and an output over a tracked file
mkdir -p build/obj build/bin .cache/v1 node_modules/.bin node_modules/p src/__pycache__
for f in a b c d e; do cp "src/$f.txt" "build/obj/$f.o"; done
cat build/obj/*.o > build/bin/prog
chmod +x build/bin/prog
ln -s ../p/cli.js node_modules/.bin/cli
echo x > node_modules/p/cli.js
chmod 0444 node_modules/p/cli.js
echo x > src/__pycache__/m.pyc
echo log > build.log
cp build/bin/prog empty.txt
