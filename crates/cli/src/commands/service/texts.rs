//! The service's file for each system, as text. Pure, so that both are tested on every machine.

/// What a service needs to know.
#[derive(Debug)]
pub(super) struct Facts {
    /// Our own program.
    pub(super) program: String,
    /// The state folder.
    pub(super) home: String,
    /// Where agents and git are found; a service manager has a short one of its own.
    pub(super) path: String,
}

/// The name that launchd knows it by.
pub(super) const LABEL: &str = "loopwright.worker";

/// A systemd user unit. Only the worker is ended with it: agents run under keepers and are adopted
/// by the next.
///
/// `LOOPWRIGHT_WAKE=off`, because the service manager starts the next worker, and no keeper should
/// be quicker. It never gives up: a worker that was started on demand may hold the lock until it
/// has nothing left to do.
pub(super) fn systemd_unit(facts: &Facts) -> String {
    let variable =
        |name: &str, value: &str| format!("Environment={}\n", quoted(&format!("{name}={value}")));
    format!(
        "# Made by `loopwright service install`; `loopwright service uninstall` removes it.\n\
         [Unit]\n\
         Description=Loopwright worker\n\
         StartLimitIntervalSec=0\n\
         \n\
         [Service]\n\
         Type=exec\n\
         ExecStart={} serve\n\
         {}{}{}\
         KillMode=process\n\
         Restart=always\n\
         RestartSec=10\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        // In a command line, a dollar sign would be a variable.
        quoted(&facts.program).replace('$', "$$"),
        variable("PATH", &facts.path),
        variable("LOOPWRIGHT_HOME", &facts.home),
        variable("LOOPWRIGHT_WAKE", "off"),
    )
}

/// A text as systemd takes it in quotes; a percent sign alone would be a specifier.
fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        text.replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('%', "%%")
    )
}

/// A launchd agent. `AbandonProcessGroup` is what `KillMode=process` is there.
pub(super) fn launchd_plist(facts: &Facts) -> String {
    let (program, home, path) = (
        escaped(&facts.program),
        escaped(&facts.home),
        escaped(&facts.path),
    );
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
    <string>{program}</string>
    <string>serve</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>{path}</string>
    <key>LOOPWRIGHT_HOME</key>
    <string>{home}</string>
    <key>LOOPWRIGHT_WAKE</key>
    <string>off</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>StandardErrorPath</key>
  <string>{home}/worker.log</string>
</dict>
</plist>
"#
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let text = str::to_owned;
        Facts {
            program: text("/opt/my $tools/loopwright"),
            home: text("/state/100% \"mine\""),
            path: text("/a & b/bin:/usr/bin"),
        }
    }

    #[test]
    fn the_systemd_unit_is() {
        insta::assert_snapshot!(systemd_unit(&facts()));
    }

    #[test]
    fn the_launchd_agent_is() {
        insta::assert_snapshot!(launchd_plist(&facts()));
    }
}
