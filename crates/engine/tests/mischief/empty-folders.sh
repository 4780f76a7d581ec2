# expect: empty folders are not known to git and stay
mkdir -p e1/e2/e3 src/none 'with space/none' tests/build .hidden
rm src/deep/er/x.txt src/deep/er/y.txt
