#!/usr/bin/env bash
# class: honest
# tries: a node script with a child process, a worker and a file in the temporary folder
# must: WORKS; no refusal event, no limit outcome
# needs: node
# control: bare-works
end() { printf '%s: %s\n' "$1" "$(printf '%s' "$2" | tr -s '\n\r\t' '   ' | cut -c1-400)"; exit 0; }
need() { for n; do eval "v=\${$n:-}"; [ -n "$v" ] || end HELD "VACUOUS: $n not set"; done; }
# --- the attempt ---
works() { end WORKS "$1"; }; broken() { end BROKEN "$1"; }
o=$(timeout 12 node -e 'const c=require("child_process"),f=require("fs"),o=require("os"),w=require("worker_threads");f.writeFileSync(o.tmpdir()+"/n-"+process.pid,"x");new w.Worker("require(\"worker_threads\").parentPort.postMessage(1)",{eval:true}).on("message",()=>{console.log(c.execSync("echo hi").toString().trim())})' 2>&1); [ "$o" = hi ] && works "node $(node --version)"; broken "$o"
