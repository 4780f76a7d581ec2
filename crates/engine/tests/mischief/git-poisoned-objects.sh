# expect: forged loose objects and replace refs give other texts under the right hash when the agent's repository is read
command -v git >/dev/null 2>&1 || exit 77
command -v python3 >/dev/null 2>&1 || exit 77
evil=$(printf 'evil\n' | git hash-object -w --stdin) || exit 77
good=$(printf 'd\n' | git hash-object -w --stdin) || exit 77
mkdir -p .git/refs/replace
echo "$evil" > ".git/refs/replace/$good"
python3 - <<'P'
import hashlib, os, zlib
for text in (b"a\n", b"B\n", b"e\n"):
    h = hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest()
    p = ".git/objects/%s/%s" % (h[:2], h[2:])
    os.makedirs(os.path.dirname(p), exist_ok=True)
    if os.path.lexists(p): os.unlink(p)
    with open(p, "wb") as f: f.write(zlib.compress(b"blob 2\0X\n"))
P
rm src/a.txt src/d.txt src/e.txt
