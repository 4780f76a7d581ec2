//! Leads past the shims of version managers. One of them takes longer than the Python that it starts,
//! and the tests start more than a thousand.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `PATH` with the folder of the real `python3` first; none where that is found first anyway.
pub(crate) fn path_without() -> Option<String> {
    let asked = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .ok()?;
    let real = PathBuf::from(String::from_utf8(asked.stdout).ok()?.trim_end());
    let has_python = |folder: &Path| folder.join("python3").exists();
    with_first(real.parent()?, &env::var("PATH").ok()?, has_python)
}

fn with_first(folder: &Path, path: &str, has_python: impl Fn(&Path) -> bool) -> Option<String> {
    let first = env::split_paths(path).find(|folder| has_python(folder))?;
    if first == folder {
        return None;
    }
    Some(format!("{}:{path}", folder.to_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_program_comes_before_its_shim() {
        let past = |path: &str| {
            with_first(Path::new("/real"), path, |folder| {
                folder != Path::new("/empty")
            })
        };
        let expected = "/real:/empty:/shims:/real".to_owned();
        assert_eq!(past("/empty:/shims:/real"), Some(expected));
        assert_eq!(past("/empty:/real:/shims"), None);
        assert_eq!(past("/empty"), None);
    }
}
