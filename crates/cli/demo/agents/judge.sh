# A scripted judge: the facts have spoken already; it looks at the candidate in front of it and answers with one JSON object.
cat > /dev/null
if [ "$LOOPWRIGHT_STAGE" = arbitrate ]; then
  echo '{"fresh_tests": false, "reason": "the criterion says just that"}'
  exit 0
fi
printf '{"verdict": "PASS", "commit": "%s", "reason": "%s", "criteria": [], "guidance": []}\n' \
  "$LOOPWRIGHT_CANDIDATE" "it does what the criterion says: $(sh "$LOOPWRIGHT_STORY_ID.sh")"
