//! Patterns over paths: `**` is any folders, `*` anything within a name, `?` one character.

/// Says whether a path matches a pattern. A pattern without `/` is about a name at any depth; one
/// that ends with `/` is about everything in that folder.
pub fn matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_start_matches('/');
    if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
        return false;
    }
    if let Some(folder) = pattern.strip_suffix('/') {
        return matches(&format!("{folder}/**"), path);
    }
    if !pattern.contains('/') {
        return path
            .rsplit('/')
            .next()
            .is_some_and(|name| name_matches(pattern, name));
    }
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    path_matches(&pattern, &path)
}

/// Longest pattern; a longer one matches nothing.
const PATTERN_BYTES_MAX: usize = 1_000;

/// Fills a table instead of trying every way, so that no pattern is slow.
fn path_matches(pattern: &[&str], path: &[&str]) -> bool {
    let mut reach = vec![false; path.len() + 1];
    reach[0] = true;
    for part in pattern {
        let mut next = vec![false; path.len() + 1];
        if *part == "**" {
            let first = reach.iter().position(|is_reached| *is_reached);
            if let Some(first) = first {
                next[first..].fill(true);
            }
        } else {
            for (at, name) in path.iter().enumerate() {
                next[at + 1] = reach[at] && name_matches(part, name);
            }
        }
        reach = next;
    }
    reach[path.len()]
}

fn name_matches(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let mut reach = vec![false; name.len() + 1];
    reach[0] = true;
    for part in pattern.chars() {
        let mut next = vec![false; name.len() + 1];
        if part == '*' {
            if let Some(first) = reach.iter().position(|is_reached| *is_reached) {
                next[first..].fill(true);
            }
        } else {
            for (at, character) in name.iter().enumerate() {
                next[at + 1] = reach[at] && (part == '?' || part == *character);
            }
        }
        reach = next;
    }
    reach[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match() {
        for (pattern, path, expected) in [
            ("*.rs", "src/a.rs", true),
            ("a?.rs", "ab.rs", true),
            ("a?.rs", "a.rs", false),
            ("tests/**", "tests/a/b.rs", true),
            ("tests/", "tests/a/b.rs", true),
            ("tests/**", "x/tests/a.rs", false),
            ("**/tests/**", "x/tests/a.rs", true),
            ("**/tests/**", "tests/a.rs", true),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/*/b", "a/x/y/b", false),
            ("./a/b", "a/b", true),
            ("", "a", false),
            ("**", "a/b", true),
            ("**/*", "a/b", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
        assert!(
            !matches(
                &"*a".repeat(400),
                &"a".repeat(5_000).replace("aaaa", "aaab")
            ),
            "is quick"
        );
    }
}
