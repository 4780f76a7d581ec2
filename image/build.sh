#!/bin/sh
# Builds the image in which runs with `kind = "podman"` or `"docker"` take place, without a registry:
# Debian's packages from the mirrors of this machine, and agent CLIs from npm at pinned versions.
#
#   image/build.sh podman            all five CLIs
#   AGENTS="codex claude" TOOLCHAINS="python rust" image/build.sh docker
#
# It needs mmdebstrap, npm and the engine. The image is `localhost/loopwright-runner:VERSION`;
# README.md says when the version changes.
set -eu

VERSION=1
NODE=node@22.23.3
CODEX=@openai/codex@0.166.0
CLAUDE=@anthropic-ai/claude-code@2.1.325
PI=@earendil-works/pi-coding-agent@0.87.1
OPENCODE=opencode-ai@1.18.33
GEMINI=@google/gemini-cli@0.61.0

engine=${1:?podman or docker}
image=${IMAGE:-localhost/loopwright-runner:$VERSION}
agents=${AGENTS-codex claude pi opencode gemini}
packages=bash,ca-certificates,coreutils,curl,diffutils,file,findutils,git,grep,jq,less,patch,procps,ripgrep,sed,tar,unzip,xz-utils

for toolchain in ${TOOLCHAINS-python}; do
    case $toolchain in
    python) packages=$packages,python3,python3-venv,python3-pip ;;
    rust) packages=$packages,cargo,rustc,gcc,libc6-dev ;;
    c) packages=$packages,gcc,g++,make,libc6-dev ;;
    go) packages=$packages,golang-go ;;
    java) packages=$packages,default-jdk-headless,maven ;;
    ruby) packages=$packages,ruby,bundler ;;
    *)
        echo "unknown toolchain: $toolchain" >&2
        exit 2
        ;;
    esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

# Each CLI has a folder of its own, as their dependencies differ; node is one of them.
mkdir -p "$work/agents" "$work/bin"
install_from_npm() {
    npm install --no-fund --no-audit --no-package-lock --prefix "$work/agents/$1" "$2"
    ln -s "/opt/agents/$1/node_modules/.bin/$3" "$work/bin/$3"
}
install_from_npm node "$NODE" node
PATH="$work/agents/node/node_modules/.bin:$PATH"
for agent in $agents; do
    case $agent in
    codex) install_from_npm codex "$CODEX" codex ;;
    claude) install_from_npm claude "$CLAUDE" claude ;;
    pi) install_from_npm pi "$PI" pi ;;
    opencode) install_from_npm opencode "$OPENCODE" opencode ;;
    gemini) install_from_npm gemini "$GEMINI" gemini ;;
    *)
        echo "unknown agent: $agent" >&2
        exit 2
        ;;
    esac
done

# Without an address mmdebstrap takes the mirrors that apt has here.
# shellcheck disable=SC2016 # mmdebstrap sets $1.
mmdebstrap --variant=minbase --include="$packages" \
    --customize-hook="copy-in $work/agents /opt" \
    --customize-hook="copy-in $work/bin /usr/local" \
    --customize-hook='mkdir -p "$1/workspace" "$1/home/agent"' \
    --customize-hook='echo "agent:x:1000:1000:agent:/home/agent:/bin/bash" >> "$1/etc/passwd"' \
    --customize-hook='echo "agent:x:1000:" >> "$1/etc/group"' \
    --customize-hook='rm -rf "$1"/var/cache/apt/*.bin "$1"/usr/share/doc/* "$1"/usr/share/man/*' \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$work/image.tar" ${MIRROR:+"$MIRROR"}

"$engine" import "$work/image.tar" "$image"
echo "$image"
