# expect: names that are not UTF-8 are turned into something else, not found again, and stay
command -v python3 >/dev/null 2>&1 || exit 77
python3 - <<'P'
import os, sys
try:
    for n in (b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\x80\x81", b"caf\xe9.txt", b"\x01\x7f\x1b[31m", b"src/\xfe\xff", b"README.md\xff"):
        open(n, "wb").close()
    os.makedirs(b"d\xff/e\xfe"); open(b"d\xff/e\xfe/\xf0\x28\x8c\x28", "wb").close()
    os.symlink(b"\xff\xff", b"l\xff")
    os.rename(b"tests/t2.sh", b"tests/t2.sh\xff")
except OSError: sys.exit(77)
P
