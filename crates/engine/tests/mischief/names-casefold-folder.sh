# expect: in a case-folding folder lstat of src/deep/er/x.txt finds "ER" with listed inode and ctime; the name on disk is wrong
command -v chattr >/dev/null 2>&1 || exit 77
mkdir fold
chattr +F fold 2>/dev/null || { rmdir fold; exit 77; }
mv src/deep/er fold/ER
rmdir src/deep
mv fold src/deep
