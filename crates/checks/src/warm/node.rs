//! What `npm` installed.
//!
//! A folder of packages is the same for the same manifests and lock file, unless a script that runs
//! while it is installed looks at the project. Scripts of the project's own, and those of packages
//! that are not known to keep to themselves, are therefore a reason to install anew.

use serde_json::Value;

use super::model::{Cold, Files, Recipe, has_end, placed};
use crate::shell::Call;
use crate::tree::Tree;

/// Scripts that npm runs by itself while it installs.
const RUN_BY_NPM: [&str; 9] = [
    "preinstall",
    "install",
    "postinstall",
    "prepublish",
    "preprepare",
    "prepare",
    "postprepare",
    "dependencies",
    "prepack",
];

/// Packages whose scripts fetch or choose a program of their own and look at nothing but the inputs below:
/// their newest versions of November 2026 were read.
const KEEP_TO_THEMSELVES: [&str; 11] = [
    "@parcel/watcher",
    "@swc/core",
    "better-sqlite3",
    "bufferutil",
    "core-js",
    "core-js-pure",
    "esbuild",
    "fsevents",
    "sharp",
    "unrs-resolver",
    "utf-8-validate",
];

/// Files that say what is installed.
const INPUTS: [&str; 9] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    ".npmrc",
    ".nvmrc",
    ".node-version",
    ".tool-versions",
    "binding.gyp",
    // Scripts that fetch a program look upwards for it.
    ".prebuild-installrc",
];

/// Lock files of other installers, which may install in other ways.
const OTHERS: [&str; 6] = [
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    ".pnp.cjs",
];

/// Options that lead npm elsewhere.
const ELSEWHERE: [&str; 5] = ["-g", "--global", "--prefix", "-C", "--location"];

pub(super) fn is_installer(calls: &[Call]) -> bool {
    let [call] = calls else { return false };
    let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
    let [program, verb, options @ ..] = &words[..] else {
        return false;
    };
    let is_known = |option: &&str| {
        let name = option.split('=').next().unwrap_or_default();
        option.starts_with('-') && !ELSEWHERE.contains(&name)
    };
    *program == "npm"
        && ["ci", "install", "i"].contains(verb)
        && call.assignments.is_empty()
        && options.iter().all(is_known)
}

pub(super) fn add(
    tree: &dyn Tree,
    files: &Files,
    subdir: &str,
    recipe: &mut Recipe,
) -> Result<(), Cold> {
    let inputs = files.named(|name| INPUTS.contains(&name));
    if let Some(other) = files.named(|name| OTHERS.contains(&name)).first() {
        return Err(Cold::Depends(format!("{other}, which npm does not read")));
    }
    if let Some(path) = inputs.iter().find(|path| path.ends_with("binding.gyp")) {
        return Err(Cold::Depends(format!("{path}, which is compiled")));
    }
    for path in inputs.iter().filter(|path| path.ends_with("package.json")) {
        let text = tree.read(path).unwrap_or_default();
        let archives = check_manifest(path, &text)?;
        recipe.fixed.extend(archives);
    }
    let lock = placed(subdir, "package-lock.json");
    let Some(text) = tree.read(&lock) else {
        return Err(Cold::Depends("packages that no lock file names".to_owned()));
    };
    check_lock(&lock, &text)?;
    recipe.fixed.extend(inputs);
    recipe.installs.push("node_modules".to_owned());
    Ok(())
}

/// Says which archives of the tree it installs from. Their content is all that matters of them.
fn check_manifest(path: &str, text: &str) -> Result<Vec<String>, Cold> {
    let unreadable = || Cold::Depends(format!("{path}, which cannot be read"));
    let manifest: Value = serde_json::from_str(text).map_err(|_| unreadable())?;
    let scripts = manifest["scripts"].as_object();
    let own = scripts.and_then(|scripts| {
        let found = RUN_BY_NPM.iter().find(|name| scripts.contains_key(**name));
        found.copied()
    });
    if let Some(script) = own {
        return Err(Cold::Depends(format!("the script `{script}` of {path}")));
    }
    let lists = [
        "dependencies",
        "devDependencies",
        "optionalDependencies",
        "peerDependencies",
        "overrides",
    ];
    let is_local = |value: &Value| {
        let version = value.as_str().unwrap_or_default();
        [
            "file:",
            "link:",
            "portal:",
            "patch:",
            "git+file:",
            "./",
            "../",
            "/",
            "~/",
        ]
        .iter()
        .any(|start| version.starts_with(start))
    };
    let packages = lists.iter().filter_map(|list| manifest[*list].as_object());
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut archives = Vec::new();
    for (name, version) in packages.flatten().filter(|(_, version)| is_local(version)) {
        match archive(version.as_str().unwrap_or_default()) {
            Some(archive) => archives.push(placed(folder, archive)),
            None => return Err(Cold::Depends(format!("the files of `{name}` ({path})"))),
        }
    }
    Ok(archives)
}

/// The path of an archive that lies in the tree, from the manifest's folder.
fn archive(version: &str) -> Option<&str> {
    let path = version.strip_prefix("file:")?;
    let path = path.strip_prefix("./").unwrap_or(path);
    let is_plain = !path.starts_with(['/', '~']) && !path.contains("..");
    (is_plain && has_end(path, "tgz")).then_some(path)
}

fn check_lock(path: &str, text: &str) -> Result<(), Cold> {
    let lock: Value = serde_json::from_str(text).unwrap_or_default();
    let Some(packages) = lock["packages"].as_object() else {
        return Err(Cold::Depends(format!("{path}, which is of an old form")));
    };
    for (place, package) in packages {
        let name = package["name"].as_str();
        let name = name.or_else(|| place.rsplit("node_modules/").next());
        let name = name.unwrap_or_default();
        let runs_script = package["hasInstallScript"].as_bool() == Some(true);
        if runs_script && !KEEP_TO_THEMSELVES.contains(&name) {
            return Err(Cold::Depends(format!("a script of the package `{name}`")));
        }
        let resolved = package["resolved"].as_str().unwrap_or_default();
        if resolved.starts_with("file:") && archive(resolved).is_none() {
            return Err(Cold::Depends(format!("the files of `{name}` ({path})")));
        }
    }
    Ok(())
}
