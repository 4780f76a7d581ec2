//! Files by which agents are configured. A candidate that brings its own would instruct the next
//! agent.

use super::glob::matches;

const CONFIG: [&str; 16] = [
    "**/.claude/**",
    "**/.mcp.json",
    "**/.codex/**",
    "**/.gemini/**",
    "**/.opencode/**",
    "**/opencode.json",
    "**/opencode.jsonc",
    "**/.cursor/**",
    "**/.cursorrules",
    "**/.aider.conf.yml",
    "**/.continue/**",
    "**/.windsurf/**",
    "**/.github/copilot-instructions.md",
    "**/.loopwright/**",
    "**/loopwright.toml",
    "**/.pi/**",
];
const GUIDANCE: [&str; 5] = [
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "AGENTS.override.md",
    "CLAUDE.local.md",
];

/// Says whether a file configures an agent: its tools, hooks, permissions.
pub fn is_agent_config(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    CONFIG.iter().any(|pattern| matches(pattern, &path))
}

/// Says whether a file tells agents about the project. People may want such a change, so it is
/// shown like code.
pub fn is_agent_guidance(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    GUIDANCE
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}
