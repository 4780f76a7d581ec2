# a hint that begins with a dash; a blank hint is like none or refused, never a crash
. "$(dirname "$0")/../lib.sh"
ALPHA=hint skipped_alpha; lw retry "$ID" alpha --hint '   '; if [ $RC = 0 ]; then wait_call 'alpha 2 implement'; done_with alpha skipped; fi
lw retry "$ID" alpha --hint=--PLEASE-DO-IT-RIGHT; [ $RC = 0 ] || no "a hint with a dash was refused: $(said)"
done_with alpha passed; once alpha
ok
