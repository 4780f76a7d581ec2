# A scripted judge: the facts have spoken already; it looks at the candidate in front of it and answers with one JSON object.
# Its prompt lists the story's criteria; a PASS names each of them in its own words, with the evidence.
criterion=$(sed -n '/^## Acceptance criteria/,/^## [^A]/s/^- //p')
if [ "$LOOPWRIGHT_STAGE" = arbitrate ]; then
  echo '{"fresh_tests": false, "reason": "the criterion says just that"}'
  exit 0
fi
said=$(sh "$LOOPWRIGHT_STORY_ID.sh")
printf '{"verdict": "PASS", "commit": "%s", "reason": "%s", "criteria": [{"criterion": "%s", "pass": true, "evidence": "%s"}], "guidance": []}\n' \
  "$LOOPWRIGHT_CANDIDATE" "it does what the criterion says: $said" "$criterion" "it prints: $said"
