# expect: names around "src/" in byte order (- . / 0) upset a merge of two sorted lists, so extras stay or tracked files go
for n in src- src-x src. src.txt src0 'src ' 'src!' srca tests- tests.x run.s run.sh. run.shx empty.txt- empty.txt. empty.txt0 link. linka README.md. README.m; do
	echo x > "$n"
done
for n in deep- deep. deep.txt deep0 'deep ' a.tx a.txt. a.txt0 new new.tx new.txt-; do echo x > "src/$n"; done
mkdir -p src-d/deep src.d src0d 'src/deep-er/er' src/deep.er
echo x > src-d/deep/x.txt
echo x > src/deep-er/er/x.txt
echo x > src/deep/er-x
echo x > src/deep/er.x
