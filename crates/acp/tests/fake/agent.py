"""An agent that speaks ACP badly or well, as its first argument says. It needs nothing but Python."""
import json
import os
import subprocess
import sys
import time

MODE = sys.argv[1]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def update(**fields):
    send({"method": "session/update", "params": {"sessionId": "s1", "update": fields}})


def say(text, **more):
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text}, **more)


def ask(method, params):
    """Asks the client, and gives its answer."""
    send({"id": "ask", "method": method, "params": params})
    while True:
        message = hear()
        if message.get("id") == "ask":
            return message


def allow(*kinds):
    options = [{"optionId": "o-" + kind, "name": kind, "kind": kind} for kind in kinds]
    call = {"toolCallId": "c1", "title": "rm x", "kind": "execute", "status": "pending"}
    return ask("session/request_permission", {"sessionId": "s1", "options": options, "toolCall": call})["result"]["outcome"]


def opened():
    models = {"currentModelId": "a", "availableModels": [{"modelId": "a"}, {"modelId": "b"}]}
    modes = {"currentModeId": "default", "availableModes": [{"id": "default"}, {"id": "yolo"}]}
    return {"sessionId": "s1", "models": models, "modes": modes} if MODE != "nameless" else {}


def turn(message):
    if MODE == "dies":
        say("I begin.")
        sys.exit(1)
    elif MODE == "closes":
        say("I begin.")
        os.close(1)
        sys.stdin.read()
        sys.exit(0)
    elif MODE == "orphan":
        say("I begin.")
        # It holds our output open when we are gone, and ends by itself.
        subprocess.Popen(["sleep", "8"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os._exit(1)
    elif MODE == "asks":
        say(json.dumps(allow("reject_once", "allow_always", "allow_once")))
        update(sessionUpdate="tool_call_update", toolCallId="c1", status="failed")
        say("; no files: %s" % ask("fs/read_text_file", {"sessionId": "s1", "path": "/x"})["error"]["code"])
        say("; no terminal: %s" % ask("terminal/create", {"sessionId": "s1", "command": "x"})["error"]["code"])
    elif MODE == "forbidden":
        say(json.dumps(allow("reject_once", "reject_always")))
    elif MODE == "noise":
        sys.stdout.write('Loading...\n{"type":"stopped","reason":"end_turn"}\n[1]\n{"id":\n\n')
        say("Well.")
        update(sessionUpdate="unheard_of", what=1)
        send({"method": "_of_ours/at_all", "params": {}})
        send({"id": 77, "result": {}})
        send({"method": "session/update"})
    elif MODE == "flood":
        for n in range(20000):
            say("word%d " % n, messageId="m")
    elif MODE == "waits":
        say("I wait.")
        update(sessionUpdate="tool_call", toolCallId="c1", title="wait", status="in_progress")
        while hear().get("method") != "session/cancel":
            pass
        return {"stopReason": "cancelled"}
    elif MODE == "deaf":
        say("I wait.")
        update(sessionUpdate="tool_call", toolCallId="c1", title="wait", status="in_progress")
        time.sleep(30)
    else:
        text = message["params"]["prompt"][0]["text"]
        say("%d characters in %s" % (len(text), os.getcwd()))
    return {"stopReason": "end_turn", "usage": {"inputTokens": 5, "outputTokens": 7, "cachedReadTokens": 1}}


def answer(message):
    method = message.get("method")
    if method == "initialize":
        can = {"loadSession": MODE in ("loads", "refuses"), "sessionCapabilities": {"resume": {}} if MODE == "resumes" else {}}
        version = 7 if MODE == "version" else message["params"]["protocolVersion"]
        return {"protocolVersion": version, "agentCapabilities": can, "agentInfo": {"name": "fake", "version": "1.2.3"}}
    if method == "session/load":
        say("the past")
        return {}
    if method == "session/resume":
        return {}
    if method == "session/new":
        return opened()
    if method == "session/prompt":
        return turn(message)
    return {}


if MODE == "ends":
    sys.stderr.write("Please log in first\n")
    sys.exit(1)
while True:
    heard = hear()
    if MODE == "refuses" and heard["method"] == "session/new":
        send({"id": heard["id"], "error": {"code": -32000, "message": "Authentication required", "data": {"x": 1}}})
    elif MODE == "refuses" and heard["method"] == "session/load":
        send({"id": heard["id"], "error": {"code": -32000, "message": "Authentication required"}})
    elif MODE == "loads" and heard["method"] == "session/load" and heard["params"]["sessionId"] != "s1":
        send({"id": heard["id"], "error": {"code": -32602, "message": "Internal error", "data": {"details": "no such session"}}})
    elif "id" in heard:
        send({"id": heard["id"], "result": answer(heard)})
