# a hint with quotes, lines, placeholders, commands and other scripts arrives as it is and runs nothing
. "$(dirname "$0")/../lib.sh"
ALPHA=hint skipped_alpha
h="it's \"quoted\" \$(touch $T/pwned) \`touch $T/pwned\` {{story}} {{nonsense}} %s \\n ünï 漢字 PLEASE-DO-IT-RIGHT"
must retry "$ID" alpha --hint "$h
second line"
done_with alpha passed; [ ! -e "$T/pwned" ] || no 'the hint was run'
grep -qF "$h" "$T"/prompts/alpha.2.implement.* || no 'the hint did not arrive as it was'; grep -qF 'second line' "$T"/prompts/alpha.2.implement.* || no 'its second line is missing'
ok
