//! Names that git refuses in a tree, because on some file system they open git's own metadata.
//!
//! Git has the last word. This check comes first and is a little stricter, so that one such name
//! costs one file and not the whole snapshot.

use crate::walk::Kind;

/// Whether some file system takes this name for `.git`, or for `.gitmodules` if it is a link.
pub(crate) fn is_reserved(name: &[u8], kind: Kind) -> bool {
    // On Windows a backslash separates folders too, so every part may be a name of its own.
    name.split(|byte| *byte == b'\\').any(|part| {
        let name = folded(part);
        // Names with a tilde are the short 8.3 names that NTFS gives to `.git` and `.gitmodules`.
        let is_git = matches!(name.as_str(), ".git" | "git~1");
        let modules = [".gitmodules", "gitmod~", "gi7eba~"]
            .iter()
            .any(|start| name.starts_with(start));
        is_git || (modules && kind == Kind::Link)
    })
}

/// The name in lower case, without the characters that HFS+ ignores and without the end that NTFS
/// cuts off (a stream name after `:`, trailing dots and spaces).
fn folded(part: &[u8]) -> String {
    let text = String::from_utf8_lossy(part).to_lowercase();
    let seen: String = text
        .chars()
        .filter(|character| !is_ignored_by_hfs(*character))
        .collect();
    let name = seen.split(':').next().unwrap_or_default();
    name.trim_end_matches([' ', '.']).to_owned()
}

fn is_ignored_by_hfs(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_reserved() {
        for (name, kind, expected) in [
            (".git", Kind::File, true),
            (".GIT", Kind::Folder, true),
            (".git ", Kind::File, true),
            (".git. .", Kind::File, true),
            (".git::$INDEX_ALLOCATION", Kind::Folder, true),
            ("GIT~1", Kind::File, true),
            (".g\u{200c}it", Kind::File, true),
            ("a\\.git", Kind::File, true),
            (".gitmodules", Kind::Link, true),
            (".gitmodules", Kind::File, false),
            (".gitignore", Kind::File, false),
            (".github", Kind::Folder, false),
            ("git", Kind::Folder, false),
            ("...", Kind::File, false),
        ] {
            assert_eq!(is_reserved(name.as_bytes(), kind), expected, "{name:?}");
        }
    }
}
