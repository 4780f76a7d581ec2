//! The hosts of the package registries that a project's own package managers use, asked of those
//! programs and of their configuration. So a company's mirror is found as the public one is, and no
//! list of ours grows old.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::programs::find_program;

/// Prints pip's own index and where that keeps its files.
const PIP: &str = "from pip._internal.models.index import PyPI\nprint(PyPI.url)\nprint('https://' + PyPI.file_storage_domain + '/')";

/// The hosts, as `name` or `name:port`.
pub(crate) fn of_project(project: &Path) -> Vec<String> {
    let has = |name: &str| project.join(name).exists();
    let mut urls = Vec::new();
    if has("package.json") {
        urls.extend(said(project, "npm", &["config", "get", "registry"]));
    }
    let python = [
        "pyproject.toml",
        "requirements.txt",
        "setup.py",
        "setup.cfg",
        "Pipfile",
    ];
    if python.into_iter().any(has) {
        urls.extend(said(project, "python3", &["-c", PIP]));
        urls.extend(said(project, "python3", &["-m", "pip", "config", "list"]));
        let variables = ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL"];
        urls.extend(variables.iter().filter_map(|name| std::env::var(name).ok()));
    }
    if has("Cargo.toml") {
        urls.extend(of_cargo(project));
    }
    if has("go.mod") {
        urls.extend(said(project, "go", &["env", "GOPROXY", "GOSUMDB"]));
    }
    let hosts: BTreeSet<String> = urls.iter().flat_map(|text| hosts_in(text)).collect();
    hosts.into_iter().collect()
}

/// What cargo's configuration and the lock file name.
fn of_cargo(project: &Path) -> Vec<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let configs = home.iter().flat_map(|home| {
        ["config.toml", "config"].map(|name| std::fs::read_to_string(home.join(name)).ok())
    });
    let mut texts: Vec<String> = configs.flatten().collect();
    let lock = std::fs::read_to_string(project.join("Cargo.lock")).unwrap_or_default();
    let source = lock.lines().find_map(|line| {
        let url = line.trim().strip_prefix("source = \"registry+")?;
        url.strip_suffix('"')
    });
    texts.extend(source.into_iter().flat_map(sparse_of));
    // Without a lock file, an index that cargo has used before tells its name.
    texts.extend(home.iter().flat_map(|home| used_indexes(home)));
    texts
}

/// Cargo's own registry is named by its old index, a repository `…/NAME-index`; what is fetched today
/// lies at `index.NAME` and `static.NAME`.
fn sparse_of(index: &str) -> Vec<String> {
    let name = index
        .rsplit('/')
        .next()
        .and_then(|name| name.strip_suffix("-index"));
    match name {
        Some(name) => ["index.", "static.", ""]
            .map(|part| format!("https://{part}{name}/"))
            .into(),
        None => vec![index.to_owned()],
    }
}

/// The hosts of indexes in cargo's home: each has a folder `HOST-HASH`.
fn used_indexes(home: &Path) -> Vec<String> {
    let folders = std::fs::read_dir(home.join("registry/index"));
    let names = folders.into_iter().flatten().flatten();
    let hosts = names.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some(name.rsplit_once('-')?.0.to_owned())
    });
    hosts
        .flat_map(|host| match host.strip_prefix("index.") {
            Some(name) => sparse_of(&format!("{name}-index")),
            None => vec![format!("https://{host}/")],
        })
        .collect()
}

/// What a program prints, run in the project as its user would.
fn said(project: &Path, program: &str, arguments: &[&str]) -> Option<String> {
    let program = find_program(program)?;
    let output = Command::new(program)
        .args(arguments)
        .current_dir(project)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    String::from_utf8(output.stdout).ok()
}

/// The hosts of all addresses in a text.
fn hosts_in(text: &str) -> Vec<String> {
    let addresses = text.split("://").skip(1);
    let host = |rest: &str| {
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || "-._:@%".contains(c)))
            .unwrap_or(rest.len());
        let authority = rest[..end].rsplit('@').next().unwrap_or_default();
        let authority = authority.trim_end_matches(['.', ':']).to_ascii_lowercase();
        (!authority.is_empty()).then_some(authority)
    };
    addresses.filter_map(host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_give_their_hosts() {
        for (text, expected) in [
            ("https://Mirror.example/npm/\n", vec!["mirror.example"]),
            (
                "global.index-url='https://me:word@mirror.example:8443/simple'",
                vec!["mirror.example:8443"],
            ),
            (
                "index = \"sparse+https://one.example/\"\nregistry = 'https://two.example'",
                vec!["one.example", "two.example"],
            ),
            (
                "https://one.example,direct\nsum.example",
                vec!["one.example"],
            ),
            ("nothing here", vec![]),
        ] {
            assert_eq!(hosts_in(text), expected, "{text}");
        }
    }

    #[test]
    fn the_lock_files_registry_is_the_one_of_today() {
        assert_eq!(
            sparse_of("https://git.example/own/packs.example-index"),
            [
                "https://index.packs.example/",
                "https://static.packs.example/",
                "https://packs.example/"
            ]
        );
        assert_eq!(
            sparse_of("https://git.example/own"),
            ["https://git.example/own"]
        );
    }
}
