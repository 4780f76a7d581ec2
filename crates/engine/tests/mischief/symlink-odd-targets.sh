# expect: targets of 4095 bytes, with newline, non-UTF-8 or dangling break readlink buffers and string conversions
command -v python3 >/dev/null 2>&1 || exit 77
python3 - <<'P'
import os
os.unlink("link"); os.symlink(b"/".join([b"x" * 254] * 16)[:4095], "link")
os.unlink("dirlink"); os.symlink(b"\xff\xfe\nsrc", "dirlink")
os.symlink(b"README.md\n", "link-nl")
os.symlink(b" ", "tests/blank")
os.symlink(b"/proc/self/root/nowhere", "src/dangling")
P
