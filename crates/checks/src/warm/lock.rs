//! What a lock file of cargo names.

use std::collections::BTreeSet;

/// Whether every package of others that `before` names is in `after` as it was.
///
/// Cargo builds what is new, and leaves what is no longer needed where it was. A test or a linker that
/// looks into that folder would find it.
pub fn lock_only_grew(before: &str, after: &str) -> bool {
    packages_of_others(before).is_subset(&packages_of_others(after))
}

/// The name, version, source and checksum of each, as the file has them; what lies in the tree has no
/// source.
fn packages_of_others(lock: &str) -> BTreeSet<Vec<&str>> {
    let packages = lock.split("[[package]]").skip(1).map(|package| {
        let is_identity = |line: &&str| {
            ["name", "version", "source", "checksum"].iter().any(|key| {
                line.split_once(" = ")
                    .is_some_and(|(found, _)| found == *key)
            })
        };
        package
            .lines()
            .map(str::trim)
            .filter(is_identity)
            .collect::<Vec<_>>()
    });
    let is_of_others = |package: &Vec<&str>| package.iter().any(|line| line.starts_with("source"));
    packages.filter(is_of_others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str, source: &str) -> String {
        let source = match source {
            "" => String::new(),
            source => format!("source = \"{source}\"\nchecksum = \"c-{version}\"\n"),
        };
        format!(
            "\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source}dependencies = [\n \"x\",\n]\n"
        )
    }

    #[test]
    fn a_lock_that_lost_or_replaced_a_package_of_others_did_not_only_grow() {
        let lock = |packages: &[String]| format!("version = 4\n{}", packages.concat());
        let own = package("shop", "0.1.0", "");
        let (old, new) = (package("itoa", "1.0.1", "r"), package("itoa", "1.0.2", "r"));
        let other = package("ryu", "1.0.0", "r");
        let before = lock(&[old.clone(), own.clone()]);
        for (what, after, expected) in [
            ("the same", before.clone(), true),
            (
                "one more",
                lock(&[old.clone(), other.clone(), own.clone()]),
                true,
            ),
            (
                "another version of our own",
                lock(&[old.clone(), package("shop", "0.2.0", "")]),
                true,
            ),
            (
                "two versions",
                lock(&[old.clone(), new.clone(), own.clone()]),
                true,
            ),
            ("replaced", lock(&[new, own.clone()]), false),
            ("gone", lock(&[other, own.clone()]), false),
            (
                "from elsewhere",
                lock(&[package("itoa", "1.0.1", "git"), own.clone()]),
                false,
            ),
            (
                "in the tree now",
                lock(&[package("itoa", "1.0.1", ""), own]),
                false,
            ),
            ("no lock", String::new(), false),
        ] {
            assert_eq!(lock_only_grew(&before, &after), expected, "{what}");
        }
        assert!(lock_only_grew("", &before));
    }
}
