//! The system's service manager: where the service's file goes, and which commands it understands.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::texts::{Facts, LABEL, launchd_plist, systemd_unit};
use crate::failure::{Exit, Failure};

const UNIT: &str = "loopwright.service";

/// Which one this system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manager {
    Systemd,
    Launchd,
}

/// What came of asking the service manager for something.
pub(super) struct Said {
    pub(super) ok: bool,
    pub(super) text: String,
}

impl Manager {
    pub(super) fn of_this_system() -> Self {
        if cfg!(target_os = "macos") {
            Self::Launchd
        } else {
            Self::Systemd
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
        }
    }

    /// The service's file.
    pub(super) fn file(self) -> Result<PathBuf, Failure> {
        let folder = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = || {
            folder("HOME").ok_or_else(|| Failure {
                exit: Exit::Environment,
                message: "there is no place for the service's file: HOME is not set".to_owned(),
                hints: Vec::new(),
            })
        };
        match self {
            Self::Systemd => {
                let config =
                    folder("XDG_CONFIG_HOME").map_or_else(|| Ok(home()?.join(".config")), Ok)?;
                Ok(config.join("systemd/user").join(UNIT))
            }
            Self::Launchd => Ok(home()?
                .join("Library/LaunchAgents")
                .join(format!("{LABEL}.plist"))),
        }
    }

    pub(super) fn text(self, facts: &Facts) -> String {
        match self {
            Self::Systemd => systemd_unit(facts),
            Self::Launchd => launchd_plist(facts),
        }
    }

    /// Sees whether there is a service manager that listens to us.
    pub(super) fn look(self) -> Result<(), Failure> {
        let said = match self {
            Self::Systemd => ask("systemctl", &["--user", "show-environment"]),
            Self::Launchd => ask("launchctl", &["print", &domain()]),
        };
        if said.ok {
            Ok(())
        } else {
            Err(self.absent(&said.text))
        }
    }

    fn absent(self, why: &str) -> Failure {
        let hints = match self {
            Self::Systemd => vec![
                "in a container, let `loopwright serve` be the main process, or run it under what keeps processes alive there",
                "after `su` or in a cron job there is no session: log in, or have an administrator run `loginctl enable-linger`",
                "`loopwright service install --dry-run` shows the unit, for a service manager of your own",
            ],
            Self::Launchd => {
                vec!["log in at the machine itself once, so that launchd has a session for you"]
            }
        };
        Failure {
            exit: Exit::Environment,
            message: format!("no {} listens to this session: {why}", self.word()),
            hints: hints.into_iter().map(str::to_owned).collect(),
        }
    }

    /// Starts the service, now and at every login or boot; one that runs already is started anew.
    pub(super) fn start(self, file: &str) -> Result<(), Failure> {
        match self {
            Self::Systemd => {
                insist("systemctl", &["--user", "daemon-reload"])?;
                insist("systemctl", &["--user", "enable", UNIT])?;
                insist("systemctl", &["--user", "restart", UNIT])
            }
            Self::Launchd => {
                // An earlier one may be there; if there is none, that is no fault.
                let _ = ask("launchctl", &["bootout", &target()]);
                insist("launchctl", &["bootstrap", &domain(), file])
            }
        }
    }

    /// Ends the worker, and never an agent.
    pub(super) fn stop(self) -> Result<(), Failure> {
        match self {
            Self::Systemd => insist("systemctl", &["--user", "disable", "--now", UNIT]),
            Self::Launchd => insist("launchctl", &["bootout", &target()]),
        }
    }

    /// Makes it forget a file that is gone.
    pub(super) fn forget(self) -> Result<(), Failure> {
        match self {
            Self::Systemd => insist("systemctl", &["--user", "daemon-reload"]),
            Self::Launchd => Ok(()),
        }
    }

    pub(super) fn is_active(self) -> bool {
        match self {
            Self::Systemd => ask("systemctl", &["--user", "is-active", UNIT]).ok,
            Self::Launchd => ask("launchctl", &["print", &target()]).ok,
        }
    }

    /// Lets the service live without a login. The text says what to do where that is not possible.
    pub(super) fn linger(self) -> Option<String> {
        match self {
            Self::Systemd => {
                let said = ask("loginctl", &["enable-linger"]);
                let advice = "loops stop when you log out; ask an administrator to run";
                (!said.ok).then(|| {
                    format!(
                        "{advice} `loginctl enable-linger {}`: {}",
                        person(),
                        said.text
                    )
                })
            }
            Self::Launchd => None,
        }
    }

    /// Whether it lives without a login; nothing where that cannot be told.
    pub(super) fn lingers(self) -> Option<bool> {
        match self {
            Self::Systemd => {
                let said = ask(
                    "loginctl",
                    &["show-user", &person(), "--property=Linger", "--value"],
                );
                said.ok.then(|| said.text == "yes")
            }
            Self::Launchd => None,
        }
    }
}

fn person() -> String {
    std::env::var("USER").unwrap_or_else(|_| rustix::process::getuid().as_raw().to_string())
}

fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

fn target() -> String {
    format!("{}/{LABEL}", domain())
}

/// Runs a command of the service manager; the text is the last line that it said.
fn ask(program: &str, arguments: &[&str]) -> Said {
    match Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
    {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Said {
            ok: false,
            text: format!("there is no `{program}`"),
        },
        Err(error) => Said {
            ok: false,
            text: home::words_of(&error),
        },
        Ok(output) => {
            let spoken = if output.status.success() {
                &output.stdout
            } else {
                &output.stderr
            };
            let spoken = String::from_utf8_lossy(spoken);
            let last = spoken
                .lines()
                .rev()
                .find(|line| !line.trim().is_empty())
                .unwrap_or_default();
            Said {
                ok: output.status.success(),
                text: last.trim().to_owned(),
            }
        }
    }
}

fn insist(program: &str, arguments: &[&str]) -> Result<(), Failure> {
    let said = ask(program, arguments);
    if said.ok {
        return Ok(());
    }
    Err(Failure {
        exit: Exit::Environment,
        message: format!("`{program} {}` failed: {}", arguments.join(" "), said.text),
        hints: Vec::new(),
    })
}
