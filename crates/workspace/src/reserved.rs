//! Names that git refuses in a tree because some system would open its metadata, or a link instead
//! of it, by them.
//!
//! Git is the judge in the end; this says beforehand, a little more strictly, what it would refuse,
//! so that one such name costs one file and not the whole snapshot.

use crate::walk::Kind;

/// Whether a name means `.git`, or is a link that means `.gitmodules`, on any file system.
pub(crate) fn is_reserved(name: &[u8], kind: Kind) -> bool {
    // Windows also separates by a backslash, so every part may be a name of its own.
    name.split(|byte| *byte == b'\\').any(|part| {
        let name = as_some_systems_see_it(part);
        let is_git = matches!(name.as_str(), ".git" | "git~1");
        let modules = [".gitmodules", "gitmod~", "gi7eba~"]
            .iter()
            .any(|start| name.starts_with(start));
        is_git || (modules && kind == Kind::Link)
    })
}

/// Without case, without the characters that HFS+ passes over, without what NTFS cuts off at the
/// end.
fn as_some_systems_see_it(part: &[u8]) -> String {
    let text = String::from_utf8_lossy(part).to_lowercase();
    let seen: String = text
        .chars()
        .filter(|character| !is_passed_over(*character))
        .collect();
    let name = seen.split(':').next().unwrap_or_default();
    name.trim_end_matches([' ', '.']).to_owned()
}

fn is_passed_over(character: char) -> bool {
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
