//! Paths as people know them: relative to the project, wherever a run's checkout is.

use std::borrow::Cow;

/// A text in which the paths below a folder are relative to it, and the folder itself is a dot.
pub fn relative<'t>(text: &'t str, folder: &str) -> Cow<'t, str> {
    let folder = folder.trim_end_matches('/');
    if folder.is_empty() || !text.contains(folder) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(at) = rest.find(folder) {
        let (front, found) = rest.split_at(at);
        let after = &found[folder.len()..];
        let is_begun = front.ends_with("file://")
            || !front.chars().next_back().or(before).is_some_and(is_of_path);
        let is_ended = !after.chars().next().is_some_and(is_of_name);
        if is_begun && is_ended {
            out.push_str(front.strip_suffix("file://").unwrap_or(front));
            let inside = after.strip_prefix('/');
            let is_folder = inside.is_none_or(|inside| !inside.starts_with(is_of_name_or_dot));
            out.push_str(if is_folder { "." } else { "" });
            rest = if is_folder {
                after
            } else {
                inside.unwrap_or(after)
            };
        } else {
            out.push_str(front);
            out.push_str(folder);
            rest = after;
        }
        before = Some('.');
        if rest.is_empty() {
            break;
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether a path that begins behind this character is part of a longer one.
fn is_of_path(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '~')
}

/// Whether a name goes on with this character.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

fn is_of_name_or_dot(c: char) -> bool {
    is_of_name(c) || matches!(c, '.' | '@' | '[' | '(' | '+')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_the_folder_is_relative() {
        for (text, expected) in [
            (
                "/workspace/src/a.ts:3: wrong (see /workspace/b.ts)",
                "src/a.ts:3: wrong (see b.ts)",
            ),
            ("cd /workspace && ls", "cd . && ls"),
            ("in /workspace.", "in .."),
            ("`/workspace`", "`.`"),
            ("/workspace/ is empty", "./ is empty"),
            ("/workspace/.git/config", ".git/config"),
            ("file:///workspace/a.js", "a.js"),
            ("PATH=/usr/bin:/workspace/bin", "PATH=/usr/bin:bin"),
            ("/workspaces/a", "/workspaces/a"),
            ("/workspace-2/a", "/workspace-2/a"),
            ("/home/you/workspace/a", "/home/you/workspace/a"),
            ("/srv/workspace/a", "/srv/workspace/a"),
            ("x/workspace/a /workspace/b", "x/workspace/a b"),
            ("/workspace/workspace/a", "workspace/a"),
            ("\"/workspace/é\"", "\"é\""),
            ("nothing", "nothing"),
            ("", ""),
        ] {
            assert_eq!(relative(text, "/workspace"), expected, "{text}");
        }
        assert_eq!(relative("/a/b", ""), "/a/b");
        assert_eq!(relative("/a/b/c", "/a/b/"), "c");
    }
}
