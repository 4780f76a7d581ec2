# A scripted judge: looks at the candidate in front of it and answers with one JSON object.
cat > /dev/null
answer() {
  printf '{"verdict": "%s", "commit": "%s", "reason": "%s", "guidance": ["%s"]}\n' "$1" "$LOOPWRIGHT_CANDIDATE" "$2" "$3"
}
case "$LOOPWRIGHT_STORY_ID" in
  greet)
    [ "$(sh greet.sh)" = 'Hello, world' ] && answer PASS "it greets" "" || answer FAIL "it does not greet" "greet" ;;
  shout)
    case "$(sh shout.sh)" in
      "HELLO, WORLD") answer PASS "everybody hears it" "" ;;
      *) answer FAIL "nobody hears that" "use capitals" ;;
    esac ;;
  *)
    answer FAIL "no script can do this" "ask a person" ;;
esac
