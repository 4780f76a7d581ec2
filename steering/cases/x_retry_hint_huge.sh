# a hint of 100 KB: refused, or its beginning arrives; the story is still told whole
. "$(dirname "$0")/../lib.sh"
ALPHA=hint skipped_alpha; h="PLEASE-DO-IT-RIGHT $(head -c 100000 /dev/zero | tr '\0' x)"
lw retry "$ID" alpha --hint "$h"; if [ $RC != 0 ]; then is_state alpha skipped || no 'refused, but changed'; ok; fi
done_with alpha passed; grep -qF 'prints alpha-good' "$T"/prompts/alpha.2.implement.* || no 'the criterion was pushed out of the prompt'
ok
