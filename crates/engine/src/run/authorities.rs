//! The certificate authorities that a person's own programs trust, in a jail: the files enter it, and
//! every program that has a variable of its own for them is told.
//!
//! A company's proxy or mirror has a certificate of its own making. What a person's variables and
//! client configuration name is shown, and nothing else of the folders that it lies in.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sandbox::{Access, Mount};

/// Where the files are inside.
const FOLDER: &str = "/run/lw/authorities";

/// Variables that name a file of authorities.
pub(crate) const VARIABLES: &[&str] = &[
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "CODEX_CA_CERTIFICATE",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "npm_config_cafile",
];

/// Variables that stand for others where those are not set. `SSL_CERT_FILE` has all authorities, and
/// `NODE_EXTRA_CA_CERTS` only those beyond the system's, so it never stands for the former.
const STANDS_FOR: &[(&str, &[&str])] = &[
    (
        "SSL_CERT_FILE",
        &["NODE_EXTRA_CA_CERTS", "PIP_CERT", "GIT_SSL_CAINFO"],
    ),
    ("NODE_EXTRA_CA_CERTS", &["CODEX_CA_CERTIFICATE"]),
];

/// Where package managers are told of authorities: the file below the home, its key, and the variable
/// that says the same.
const CLIENTS: &[(&str, &str, &str)] = &[
    (".npmrc", "cafile", "npm_config_cafile"),
    (".config/pip/pip.conf", "cert", "PIP_CERT"),
    (".pip/pip.conf", "cert", "PIP_CERT"),
    (".cargo/config.toml", "cainfo", "CARGO_HTTP_CAINFO"),
    (".cargo/config", "cainfo", "CARGO_HTTP_CAINFO"),
];

/// Shows the files that an environment and the clients of a home name, and leads the environment to
/// where they are inside.
pub(crate) fn show(home: Option<&Path>, env: &mut BTreeMap<String, String>) -> Vec<Mount> {
    for (file, key, variable) in CLIENTS {
        let named = home.and_then(|home| value_of(&home.join(file), key));
        if let Some(named) = named.filter(|named| Path::new(named).is_file()) {
            env.entry((*variable).to_owned()).or_insert(named);
        }
    }
    for (from, others) in STANDS_FOR {
        let Some(file) = env.get(*from).cloned() else {
            continue;
        };
        for other in *others {
            let own = env.entry((*other).to_owned());
            own.or_insert_with(|| file.clone());
        }
    }
    let mut inside: BTreeMap<PathBuf, String> = BTreeMap::new();
    for name in VARIABLES {
        let Some(value) = env.get_mut(*name) else {
            continue;
        };
        let Some(host) = fs::canonicalize(&*value).ok().filter(|host| host.is_file()) else {
            continue;
        };
        let next = format!("{FOLDER}/{}.pem", inside.len());
        value.clone_from(inside.entry(host).or_insert(next));
    }
    let mounts = inside.into_iter().map(|(host, inside)| Mount {
        host,
        inside: PathBuf::from(inside),
        access: Access::ReadOnly,
    });
    mounts.collect()
}

/// The value of `key = value` in a client's configuration, as INI and TOML write it.
fn value_of(file: &Path, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim() == key && !value.is_empty()).then(|| value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_told_of_the_persons_authorities() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let home = fs::canonicalize(scratch.path()).expect("a path");
        for name in ["all.pem", "extra.pem", "npm.pem"] {
            fs::write(home.join(name), name).expect("written");
        }
        let path = |name: &str| home.join(name).display().to_string();
        fs::write(
            home.join(".npmrc"),
            format!("registry=x\ncafile=\"{}\"\n", path("npm.pem")),
        )
        .expect("written");
        for (given, expected) in [
            (vec![], vec![("npm_config_cafile", "npm.pem")]),
            (
                vec![("SSL_CERT_FILE", "all.pem")],
                vec![
                    ("SSL_CERT_FILE", "all.pem"),
                    ("NODE_EXTRA_CA_CERTS", "all.pem"),
                    ("CODEX_CA_CERTIFICATE", "all.pem"),
                    ("PIP_CERT", "all.pem"),
                    ("GIT_SSL_CAINFO", "all.pem"),
                    ("npm_config_cafile", "npm.pem"),
                ],
            ),
            (
                vec![("NODE_EXTRA_CA_CERTS", "extra.pem")],
                vec![
                    ("NODE_EXTRA_CA_CERTS", "extra.pem"),
                    ("CODEX_CA_CERTIFICATE", "extra.pem"),
                    ("npm_config_cafile", "npm.pem"),
                ],
            ),
        ] {
            let given = given.into_iter();
            let mut env: BTreeMap<String, String> = given
                .map(|(name, file)| (name.to_owned(), path(file)))
                .collect();
            let mounts = show(Some(&home), &mut env);
            let seen = |inside: &String| {
                let mount = mounts
                    .iter()
                    .find(|mount| mount.inside == Path::new(inside));
                mount.map(|mount| mount.host.clone())
            };
            let told: BTreeMap<&str, Option<PathBuf>> = env
                .iter()
                .map(|(name, inside)| (name.as_str(), seen(inside)))
                .collect();
            let expected: BTreeMap<&str, Option<PathBuf>> = expected
                .into_iter()
                .map(|(name, file)| (name, Some(home.join(file))))
                .collect();
            assert_eq!(told, expected);
            let n_files = mounts
                .iter()
                .map(|mount| &mount.host)
                .collect::<std::collections::BTreeSet<_>>();
            assert_eq!(n_files.len(), mounts.len(), "each file enters once");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_not_shown() {
        let mut env = BTreeMap::from([("SSL_CERT_FILE".to_owned(), "/nowhere/ca.pem".to_owned())]);
        assert!(show(None, &mut env).is_empty());
        assert_eq!(env["SSL_CERT_FILE"], "/nowhere/ca.pem");
    }
}
