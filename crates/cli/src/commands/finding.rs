//! One thing that was looked at before a loop is paid for: what was found, how bad it is, and what
//! to do. `doctor` shows all of them; `start` refuses over the bad ones.

use serde_json::{Value, json};

use crate::failure::{Exit, Failure};

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) subject: &'static str,
    pub(crate) found: String,
    level: Level,
    /// What to do, where something can be done.
    pub(crate) remedy: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Ok,
    /// Worth knowing; nothing is kept from starting.
    Warning,
    /// A loop would fail, and what was paid until then is lost.
    Bad,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Bad => "bad",
        }
    }
}

impl Finding {
    pub(crate) fn well(subject: &'static str, found: impl Into<String>) -> Self {
        Self {
            subject,
            found: found.into(),
            level: Level::Ok,
            remedy: None,
        }
    }

    pub(crate) fn warning(
        subject: &'static str,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            level: Level::Warning,
            ..Self::bad(subject, found, remedy)
        }
    }

    pub(crate) fn bad(
        subject: &'static str,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            subject,
            found: found.into(),
            level: Level::Bad,
            remedy: Some(remedy.into()),
        }
    }

    pub(crate) fn is_bad(&self) -> bool {
        self.level == Level::Bad
    }

    pub(crate) fn is_warning(&self) -> bool {
        self.level == Level::Warning
    }

    /// The line of `doctor`, with what to do below it.
    pub(crate) fn text(&self) -> String {
        let line = format!(
            "{:<4} {}: {}\n",
            self.level.word(),
            self.subject,
            self.found
        );
        match &self.remedy {
            Some(remedy) => format!("{line}     {remedy}\n"),
            None => line,
        }
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "subject": self.subject, "level": self.level.word(), "ok": !self.is_bad(),
                "found": self.found, "remedy": self.remedy })
    }
}

/// The failure that bad findings amount to; none where there are none.
pub(crate) fn failure_of(findings: &[Finding]) -> Option<Failure> {
    let bad: Vec<&Finding> = findings.iter().filter(|finding| finding.is_bad()).collect();
    if bad.is_empty() {
        return None;
    }
    let lines: String = bad
        .iter()
        .map(|finding| format!("\n  {}: {}", finding.subject, finding.found))
        .collect();
    Some(Failure {
        exit: Exit::Environment,
        message: format!("a loop would not get far; nothing was started:{lines}"),
        hints: bad.iter().filter_map(|bad| bad.remedy.clone()).collect(),
    })
}
