# unknown story, unknown loop: refused with exit code 2
. "$(dirname "$0")/../lib.sh"
skipped_alpha
for v in retry skip accept take; do refused $v "$ID" nobody; [ $RC = 2 ] || no "$v of an unknown story: exit code $RC"
  refused $v 01NOPE alpha; [ $RC = 2 ] || no "$v of an unknown loop: exit code $RC"; refused $v "$ID" ''; done
refused accept "$ID" nobody --reason x; refused accept "$ID" ../alpha --reason x
ok
