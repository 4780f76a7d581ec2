//! Files by which agents are configured. A candidate that brings its own would instruct the next
//! agent.

use std::sync::LazyLock;

use globset::GlobSet;

use super::glob::set;

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
static CONFIG_SET: LazyLock<GlobSet> = LazyLock::new(|| set(&CONFIG));

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
    CONFIG_SET.is_match(&path)
}

/// Says whether a file tells agents about the project. People may want such a change, so it is
/// shown like code.
pub fn is_agent_guidance(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    GUIDANCE
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::glob::Pattern;

    #[test]
    fn what_configures_an_agent() {
        for pattern in CONFIG {
            assert!(Pattern::parse(pattern).is_ok(), "{pattern}");
        }
        for (path, expected) in [
            (".claude/settings.json", true),
            ("sub/.Claude/agents/a.md", true),
            // A link in the folder's place.
            (".claude", true),
            ("sub/.mcp.json", true),
            (".loopwright/prompts/judge.md", true),
            ("loopwright.toml", true),
            ("src/claude/a.rs", false),
            ("docs/mcp.json", false),
        ] {
            assert_eq!(is_agent_config(path), expected, "{path}");
        }
    }
}
