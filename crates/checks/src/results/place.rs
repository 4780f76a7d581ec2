//! Where a test stands, and whether that is one of given files. Runners name files, targets,
//! packages or classes, from one folder or another, so files are compared by their ends.

use std::borrow::Cow;

use crate::text::extension;

/// Folders at which the path of an unknown checkout most likely becomes the project's own.
const MARKS: [&str; 12] = [
    "packages",
    "crates",
    "apps",
    "src",
    "lib",
    "test",
    "tests",
    "__tests__",
    "spec",
    "specs",
    "e2e",
    "integration",
];

/// A runner's text with the checkout's own path taken out, so that names and messages do not depend
/// on where it ran.
pub fn without_root(text: &str, root: &str) -> String {
    let root = root.trim_end_matches('/');
    if root.is_empty() {
        return text.to_owned();
    }
    let bare = text
        .replace(&format!("file://{root}/"), "")
        .replace(&format!("{root}/"), "");
    bare.replace(root, ".")
}

/// A path as the project would write it: relative where that can be told.
pub(super) fn relative(path: &str) -> String {
    let path = path
        .trim()
        .trim_start_matches("file://")
        .trim_start_matches("./");
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let parts: Vec<&str> = path.split('/').collect();
    let last = parts.len() - 1;
    let from = parts[..last]
        .iter()
        .rposition(|part| MARKS.contains(part))
        .map_or(last, |at| first_of_run(&parts, at));
    parts[from..].join("/")
}

/// Goes back over marks that stand side by side: `packages/a/src` stays whole, `/src/checkout/test`
/// does not.
fn first_of_run(parts: &[&str], at: usize) -> usize {
    let mut from = at;
    while from >= 2 {
        if MARKS.contains(&parts[from - 1]) {
            from -= 1;
        } else if MARKS[..3].contains(&parts[from - 2]) {
            from -= 2;
        } else {
            break;
        }
    }
    from
}

/// Says whether a test's place is one of these files, or may well be: a Rust target is named by its
/// root file, a Go test by its package, a class by its path.
pub(crate) fn stands_in(place: &str, files: &[String]) -> bool {
    files.iter().any(|file| fits(place, file))
}

/// Says whether a place and a file are the same, as far as one can tell.
pub(crate) fn fits(place: &str, file: &str) -> bool {
    let place = stem(place);
    let file_stem = stem(file);
    if ends_with_path(&place, &file_stem) || ends_with_path(&file_stem, &place) {
        return true;
    }
    is_target_of(&place, file) || is_package_of(&place, file)
}

/// A path without what varies between its spellings.
fn stem(path: &str) -> Cow<'_, str> {
    let path = path.trim_start_matches("./");
    let end = path.rfind('/').map_or(0, |at| at + 1);
    let path = match path[end..].split_once('.') {
        Some((first, _)) if !first.is_empty() => &path[..end + first.len()],
        _ => path,
    };
    Cow::Borrowed(path)
}

fn ends_with_path(long: &str, short: &str) -> bool {
    !short.is_empty()
        && long
            .strip_suffix(short)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// `tests/it/main.rs` or `tests/it.rs` is the place of everything in `tests/it/`, `src/lib.rs` of
/// everything in `src/`.
fn is_target_of(place: &str, file: &str) -> bool {
    if extension(file) != "rs" {
        return false;
    }
    let folder = match place
        .strip_suffix("/main")
        .or_else(|| place.strip_suffix("/lib"))
    {
        Some(folder) => folder,
        None => place,
    };
    file.starts_with(&format!("{folder}/")) || file.contains(&format!("/{folder}/"))
}

/// A Go package ends with the folder of its files.
fn is_package_of(place: &str, file: &str) -> bool {
    if extension(file) != "go" {
        return false;
    }
    match file.rsplit_once('/') {
        Some((folder, _)) => ends_with_path(place, folder),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_path_becomes_the_projects() {
        for (path, expected) in [
            ("test/a.js", "test/a.js"),
            ("/w/p/test/a.js", "test/a.js"),
            ("/w/src/p/test/unit/a.js", "test/unit/a.js"),
            ("/w/packages/a/src/b.ts", "packages/a/src/b.ts"),
            ("file:///x/src/test/a.ts", "src/test/a.ts"),
            ("/x/a.test.js", "a.test.js"),
            ("/", ""),
        ] {
            assert_eq!(relative(path), expected, "{path}");
        }
    }

    #[test]
    fn a_place_fits_a_file() {
        for (place, file, expected) in [
            ("tests/a.rs", "tests/a.rs", true),
            ("tests/a.rs", "crates/x/tests/a.rs", true),
            ("tests/it/main.rs", "crates/x/tests/it/login.rs", true),
            ("tests/it.rs", "tests/it/login.rs", true),
            ("src/lib.rs", "crates/x/src/deep/a.rs", true),
            ("src/lib.rs", "tests/a.rs", false),
            ("tests/a.rs", "tests/b.rs", false),
            ("tests/test_a.py", "tests/test_a.py", true),
            ("tests/test_a.py", "tests/test_b.py", false),
            ("example.com/tiny/sub", "sub/a_test.go", true),
            ("example.com/tiny/sub", "other/a_test.go", false),
            ("example.com/tiny", "a_test.go", true),
            ("test/a.test.js", "packages/p/test/a.test.js", true),
            (
                "com/example/FooTest",
                "src/test/java/com/example/FooTest.java",
                true,
            ),
            ("", "tests/a.rs", false),
        ] {
            assert_eq!(fits(place, file), expected, "{place} {file}");
        }
    }

    #[test]
    fn a_root_is_taken_out() {
        assert_eq!(
            without_root("at file:///w/c/test/a.js, /w/c/b and /w/c", "/w/c/"),
            "at test/a.js, b and ."
        );
        assert_eq!(without_root("x", ""), "x");
    }
}
