# expect: case and normal-form variants are taken for the tracked names, so they stay or the real ones are removed
echo other > readme.md
echo other > README.MD
mkdir -p SRC With\ Space TESTS
echo other > SRC/a.txt
echo other > src/A.TXT
echo other > src/B.txt
u=$(printf 'u\314\210')
mv 'with space/ü.txt' "with space/$u.txt"
echo other > "With Space/ü.txt"
mv tests/t2.sh tests/T2.sh
ln -s src DirLink
