//! Which files of a workspace belong to which package, and what may be reused of it.

use serde_json::json;

use super::*;

/// A workspace of packages, each with its folder and the names of those that it needs.
fn own(packages: &[(&str, &[&str])]) -> OwnPackages {
    let name = |folder: &str| folder.rsplit('/').next().unwrap_or_default().to_owned();
    let index = |needed: &str| {
        packages
            .iter()
            .position(|(folder, _)| name(folder) == needed)
    };
    let package = |(folder, needs): &(&str, &[&str])| OwnPackage {
        name: name(folder),
        folder: (*folder).to_owned(),
        needs: needs.iter().filter_map(|needed| index(needed)).collect(),
        is_plain: true,
    };
    OwnPackages {
        top: String::new(),
        packages: packages.iter().map(package).collect(),
    }
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A change, the packages, the files that differ, and the packages that are as they were.
type Row<'a> = (&'a str, &'a OwnPackages, &'a [&'a str], &'a [&'a str]);

fn assert_all(rows: &[Row<'_>]) {
    for (what, packages, changed, untouched) in rows {
        assert_eq!(packages.untouched(&texts(changed)), *untouched, "{what}");
    }
}

#[test]
fn a_package_is_untouched_only_if_nothing_that_it_is_built_from_differs() {
    let a = own(&[
        ("c/leaf", &[]),
        ("c/middle", &["leaf"]),
        ("c/end", &["middle"]),
        ("c/side", &[]),
    ]);
    let backwards = own(&[("end", &["middle"]), ("middle", &["leaf"]), ("leaf", &[])]);
    let cycle = own(&[("a", &["b"]), ("b", &["a"]), ("c", &[])]);
    assert_all(&[
        ("nothing", &a, &[], &["leaf", "middle", "end", "side"]),
        ("an end", &a, &["c/end/src/a"], &["leaf", "middle", "side"]),
        ("a middle", &a, &["c/middle/src/a.rs"], &["leaf", "side"]),
        ("a leaf", &a, &["c/leaf/src/a.rs"], &["side"]),
        ("a manifest", &a, &["c/leaf/Cargo.toml"], &["side"]),
        ("data", &a, &["c/side/data/x"], &["leaf", "middle", "end"]),
        ("two", &a, &["c/end/a", "c/side/a"], &["leaf", "middle"]),
        ("all", &a, &["c/leaf/a", "c/side/a"], &[]),
        ("the last of a row", &backwards, &["leaf/src/a.rs"], &[]),
        ("one of a cycle", &cycle, &["b/src/a.rs"], &["c"]),
    ]);
}

#[test]
fn what_belongs_to_no_package_touches_all() {
    let a = own(&[("c/leaf", &[]), ("c/end", &["leaf"])]);
    assert_all(&[
        ("the workspace's manifest", &a, &["Cargo.toml"], &[]),
        ("the lock file", &a, &["c/end/a", "Cargo.lock"], &[]),
        ("data of nobody", &a, &["data/x"], &[]),
        ("beside the packages", &a, &["c/x"], &[]),
        ("a new package", &a, &["c/new/src/lib.rs"], &[]),
        ("a name that begins alike", &a, &["c/leafs/src/lib.rs"], &[]),
        ("a file where a package was", &a, &["c/leaf"], &[]),
    ]);
}

#[test]
fn what_lies_above_a_package_may_be_meant_for_it() {
    let nested = own(&[("a", &[]), ("a/b", &[]), ("a/b/c", &[]), ("ab", &[])]);
    let top = own(&[("", &["x"]), ("x", &[]), ("y", &[])]);
    let elsewhere = OwnPackages {
        top: "ws".to_owned(),
        ..own(&[("ws", &[]), ("ws/a", &[]), ("b", &[])])
    };
    assert_all(&[
        ("a source", &nested, &["a/src/x.rs"], &["b", "c", "ab"]),
        ("settings", &nested, &["a/clippy.toml"], &["ab"]),
        ("a source within", &nested, &["a/b/c/src/x.rs"], &["ab"]),
        ("settings between", &nested, &["a/b/x.toml"], &["ab"]),
        ("a source at the top", &top, &["src/lib.rs"], &["x", "y"]),
        ("a manifest at the top", &top, &["Cargo.toml"], &[]),
        ("data at the top", &top, &["data/x"], &[]),
        ("a member below the top", &top, &["y/src/x.rs"], &["x"]),
        ("a top elsewhere", &elsewhere, &["ws/Cargo.toml"], &[]),
    ]);
}

#[test]
fn what_is_not_plain_is_touched_always_with_what_is_built_from_it() {
    let mut packages = own(&[("leaf", &[]), ("middle", &["leaf"]), ("side", &[])]);
    packages.note_odd("leaf");
    assert_eq!(packages.untouched(&[]), ["side"]);
    let plain: Vec<&str> = packages.plain().map(|each| each.name.as_str()).collect();
    assert_eq!(plain, ["middle", "side"]);
}

#[test]
fn whoever_reads_a_file_of_another_package_is_touched_with_it() {
    let mut packages = own(&[("a", &[]), ("b", &[]), ("a/in", &[]), ("c", &["b"])]);
    for (name, path) in [
        ("a", "a/src/lib.rs"),
        ("b", "a/in/data.txt"),
        ("c", "data/of/nobody"),
    ] {
        packages.note_read(name, path);
    }
    assert_eq!(
        packages.untouched(&texts(&["a/src/x.rs"])),
        ["b", "in", "c"]
    );
    // Not only by the file that was read: another one may be read instead.
    assert_eq!(packages.untouched(&texts(&["a/in/src/new.rs"])), [""; 0]);
}

fn metadata() -> Value {
    let package = |name: &str, folder: &str, kinds: &[&str]| {
        let source = folder.is_empty().then_some(REGISTRY);
        let place = match source {
            Some(_) => format!("/registry/{name}"),
            None => format!("/ws/{folder}"),
        };
        let targets: Vec<Value> = kinds
            .iter()
            .map(|kind| json!({ "kind": [kind], "crate_types": [kind] }))
            .collect();
        json!({ "id": name, "name": name, "source": source, "targets": targets,
                    "manifest_path": format!("{place}/Cargo.toml") })
    };
    let node = |id: &str, ids: &[&str]| json!({ "id": id, "dependencies": ids });
    json!({
        "workspace_root": "/ws",
        "packages": [
            package("plain", "plain", &["lib", "bin", "test"]),
            package("derives", "derives", &["lib"]),
            package("embeds", "embeds", &["lib"]),
            package("scripted", "scripted", &["lib", "custom-build"]),
            package("macros", "macros", &["proc-macro"]),
            package("expands", "expands", &["lib"]),
            package("through", "through", &["lib"]),
            package("shared", "shared", &["cdylib"]),
            package("serde", "", &["lib"]),
            package("serde_derive", "", &["proc-macro"]),
            package("rust-embed", "", &["lib"]),
            package("rust-embed-impl", "", &["proc-macro"]),
            package("patched", "", &["lib"]),
        ],
        "resolve": { "nodes": [
            node("plain", &[]), node("derives", &["serde", "plain"]), node("embeds", &["rust-embed"]),
            node("scripted", &[]), node("macros", &[]), node("expands", &["derives", "macros"]),
            node("through", &["patched"]), node("shared", &[]), node("serde", &["serde_derive"]),
            node("serde_derive", &[]), node("rust-embed", &["rust-embed-impl"]),
            node("rust-embed-impl", &[]), node("patched", &["plain"]),
        ] },
    })
}

fn read(metadata: &Value) -> OwnPackages {
    OwnPackages::read(metadata.to_string().as_bytes(), "/ws").expect("packages")
}

#[test]
fn cargo_says_what_packages_are_built_from() {
    let found = read(&metadata());
    assert_eq!(found.n_packages(), 8);
    let untouched = ["derives", "plain", "through"];
    assert_eq!(found.untouched(&[]), untouched);
    // A package of others may be built from one of ours.
    assert_eq!(found.untouched(&texts(&["plain/src/lib.rs"])), [""; 0]);
    assert_eq!(
        found.untouched(&texts(&["through/src/a.rs"])),
        ["derives", "plain"]
    );
}

#[test]
fn only_known_macros_of_the_registry_are_trusted() {
    let derives = |change: &dyn Fn(&mut Value)| {
        let mut metadata = metadata();
        change(&mut metadata["packages"][9]);
        read(&metadata).untouched(&[]).contains(&"derives")
    };
    assert!(derives(&|_| ()));
    assert!(!derives(&|package| package["name"] = json!("derive_it")));
    assert!(!derives(
        &|package| package["source"] = json!("git+https://host/x")
    ));
    assert!(!derives(&|package| {
        package["manifest_path"] = json!("/ws/vendor/serde_derive/Cargo.toml");
    }));
    // The folders of cargo's outputs do not tell two packages of one name apart.
    let mut alike = metadata();
    alike["packages"][8]["name"] = json!("derives");
    assert_eq!(read(&alike).untouched(&[]), ["plain", "through"]);
    let mut unknown = metadata();
    unknown["resolve"]["nodes"][0]["dependencies"] = json!(["nobody"]);
    assert!(!read(&unknown).untouched(&[]).contains(&"plain"));
    assert!(OwnPackages::read(b"{}", "/ws").is_none());
}

#[test]
fn what_the_compiler_read_is_found() {
    let text = "/ws/target/debug/deps/a-1.d: src/lib.rs src/with\\ space.rs ../x/y.txt\n\n\
                    src/lib.rs:\nsrc/with\\ space.rs:\n\n# env-dep:A: B=c d\n";
    let expected = ["../x/y.txt", "src/lib.rs", "src/with space.rs"];
    assert_eq!(files_read(text), expected);
}

#[test]
fn flags_that_may_name_a_file_are_a_reason() {
    for (name, value, expected) in [
        ("RUSTFLAGS", "-D warnings --cfg tokio_unstable", false),
        ("RUSTFLAGS", "-C target-cpu=native", false),
        ("RUSTFLAGS", "-C link-arg=-Tmemory.x", true),
        ("CARGO_BUILD_RUSTFLAGS", "-Clinker=x", true),
        ("RUSTC_WRAPPER", "sccache", true),
        ("CARGO_TARGET_X_LINKER", "mold", true),
        ("PATH", "/usr/bin", false),
    ] {
        assert_eq!(may_read_more(name, value), expected, "{name}={value}");
    }
}
