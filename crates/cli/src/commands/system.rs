//! Whether loops run on this system at all. The keeper, which ends every process of a run, needs
//! what only Linux has; elsewhere the program reads and shows, and a loop is refused by name of what
//! is missing.

use super::finding::Finding;

/// Where this program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Linux,
    /// Linux below Windows, with a kernel of its own.
    Wsl2,
    /// Windows that only looks like Linux.
    Wsl1,
    Other,
}

/// The program with its version, and whether loops run on this system.
pub(super) fn finding(long_version: &str) -> Finding {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let system = if cfg!(target_os = "linux") {
        of_release(&release)
    } else {
        System::Other
    };
    judged(system, long_version)
}

/// Both kinds of WSL name Microsoft in the release of their kernel; only the second is built by it,
/// and says so.
fn of_release(release: &str) -> System {
    let release = release.trim().to_lowercase();
    match (release.contains("microsoft"), release.contains("wsl2")) {
        (_, true) => System::Wsl2,
        (true, false) => System::Wsl1,
        (false, false) => System::Linux,
    }
}

fn judged(system: System, long_version: &str) -> Finding {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let found = |system: &str| format!("{long_version} on {system}, {arch}");
    match system {
        System::Linux => Finding::well("loopwright", found("Linux")),
        System::Wsl2 => Finding::well("loopwright", found("Linux (WSL2)")),
        System::Wsl1 => Finding::bad(
            "loopwright",
            format!(
                "{}, which lacks what ends the processes of a run",
                found("WSL1")
            ),
            "turn it into WSL2, in Windows: `wsl --set-version NAME 2`",
        ),
        System::Other => Finding::bad(
            "loopwright",
            format!(
                "{}: loops run on Linux only, because nothing here can end every process of a run \
                 (subreaper, /proc, pidfd)",
                found(os)
            ),
            "run it in a Linux virtual machine or container: `loopwright explain install`",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_of() {
        for (release, expected) in [
            ("6.12.48+deb13-amd64\n", System::Linux),
            ("5.15.167.4-microsoft-standard-WSL2\n", System::Wsl2),
            ("6.6.0-custom-WSL2", System::Wsl2),
            ("4.4.0-19041-Microsoft\n", System::Wsl1),
            ("", System::Linux),
        ] {
            assert_eq!(of_release(release), expected, "{release:?}");
        }
    }

    #[test]
    fn only_linux_is_well() {
        for (system, expected) in [
            (System::Linux, "ok   loopwright: 1.0 (abc) on Linux, "),
            (System::Wsl2, "ok   loopwright: 1.0 (abc) on Linux (WSL2), "),
            (System::Wsl1, "bad  loopwright: 1.0 (abc) on WSL1, "),
            (System::Other, "bad  loopwright: 1.0 (abc) on "),
        ] {
            let text = judged(system, "1.0 (abc)").text();
            assert!(text.starts_with(expected), "{text}");
        }
    }
}
