# expect: reading, hashing or copying a sparse file of 1 TiB takes for ever; do not look at contents where size tells
touch -r README.md "$OUTSIDE/.stamp"
truncate -s 1T README.md 2>/dev/null || { rm "$OUTSIDE/.stamp"; exit 77; }
touch -r "$OUTSIDE/.stamp" README.md
truncate -s 1T src/huge.bin
truncate -s 1T src/new.txt
truncate -s 4294967298 src/e.txt
touch -r "$OUTSIDE/.stamp" src/e.txt
rm "$OUTSIDE/.stamp"
