//! The rule `changelog`: `CHANGELOG.md` is what `changes/` makes of it, so that nobody has to
//! remember it on the day of a release.

use super::complaint::{Complaint, Rule};
use super::tree::Tree;
use crate::changelog::{FILE, page};

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let wanted = page(tree.texts());
    let found = tree.text(FILE);
    let is_without_changes = found.is_empty()
        && !tree
            .paths()
            .any(|path| path.starts_with(crate::changelog::FOLDER));
    if found == wanted || is_without_changes {
        return Vec::new();
    }
    let same = wanted
        .lines()
        .zip(found.lines())
        .take_while(|(wanted, found)| wanted == found);
    let line_number = same.count() + 1;
    let message = "the page is not what the files of `changes/` say";
    vec![Complaint::new(Rule::Changelog, FILE, line_number, message)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn a_page_that_is_behind_is_refused() {
        let change = ("changes/a.md", "New.\n");
        let whole = page([change].into_iter());
        let behind = page([].into_iter());
        let refused = |line: usize| {
            let what = "the page is not what the files of `changes/` say";
            vec![format!("CHANGELOG.md:{line}: {what} (changelog)")]
        };
        for (files, expected) in [
            (vec![], vec![]),
            (vec![change, (FILE, whole.as_str())], vec![]),
            (
                vec![change, (FILE, behind.as_str())],
                refused(behind.lines().count() + 1),
            ),
            (vec![change], refused(1)),
        ] {
            assert_eq!(shown(&check(&Tree::of(&files))), expected, "{files:?}");
        }
    }
}
