"""Says PASS to every criterion. With EXPLAINS=yes it also answers every obligation of its prompt by the first criterion."""
import json, os, re

scene = os.environ["SCENE"]
own = f'{scene}/criteria-{os.environ["LOOPWRIGHT_STORY_ID"]}.json'
criteria = json.load(open(own if os.path.exists(own) else scene + "/criteria.json"))
prompt = open(f'{scene}/said/prompt-judge-{os.environ["LOOPWRIGHT_STORY_ID"]}-{os.environ["LOOPWRIGHT_ATTEMPT"]}').read()
obliged = []
if os.environ["EXPLAINS"] == "yes":
    ids = re.findall(r"^- (O\d+)\b", prompt, re.M)
    obliged = [{"id": id, "criterion": criteria[0], "why": "the story asks for it"} for id in ids]
    heading = "## Older tests that gave way"
    old = prompt.split(heading, 1)[1].split("\n## ")[0] if heading in prompt else ""
    lines = [line for line in old.splitlines() if line.startswith("- ") and not re.match(r"- O\d+\b", line)]
    obliged += [{"test": line[2:].strip().strip("`"), "criterion": criteria[0]} for line in lines]
print(json.dumps({
    "verdict": "PASS", "commit": os.environ["LOOPWRIGHT_CANDIDATE"], "reason": "scripted", "guidance": [], "obliged": obliged,
    "criteria": [{"criterion": criterion, "pass": True, "evidence": "scripted"} for criterion in criteria],
}))
