# A scripted reviewer. As a test writer it stands on the project as it was before the story: there is nothing to peek at.
task=$(cat)
if [ "$LOOPWRIGHT_STAGE" = review ]; then
  echo '{"summary": "I looked at the change and at the results.", "criteria": [], "findings": []}'
  exit 0
fi
case "$LOOPWRIGHT_STORY_ID" in
  greet)
    criterion='`sh greet.sh` prints `Hello, world`'
    echo '[ "$(sh greet.sh)" = "Hello, world" ] || { echo "nobody is greeted"; exit 1; }' > tests/greet.sh ;;
  shout)
    criterion='`sh shout.sh` prints the greeting in capitals'
    echo '[ "$(sh shout.sh)" = "HELLO, WORLD" ] || { echo "nobody hears that: use capitals"; exit 1; }' > tests/shout.sh ;;
  *)
    criterion='`sh fly.sh` flies to the moon'
    echo 'sh fly.sh | grep -q "the eagle has landed" || { echo "still on the ground"; exit 1; }' > tests/fly.sh ;;
esac
printf '{"summary": "one test", "criteria": [{"criterion": "%s", "tests": ["%s"]}], "findings": []}\n' \
  "$criterion" "$LOOPWRIGHT_STORY_ID"
