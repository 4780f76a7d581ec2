//! What a bug of ours says: what happened, where the journal is, what to do. It ends with exit code
//! 70, whichever thread it happened in.

use std::io::Write as _;
use std::panic::PanicHookInfo;

use crate::failure::Exit;

/// The variable that makes the program fail on purpose, so that the report can be seen. Only a
/// program built for development looks at it.
const VARIABLE: &str = "LOOPWRIGHT_PANIC";

/// Installs the report. The released program aborts on a panic, so this is its last word.
pub(crate) fn install(version: &'static str) {
    std::panic::set_hook(Box::new(move |panic| {
        let report = report(panic, version);
        let _ = std::io::stderr().write_all(report.as_bytes());
        std::process::exit(Exit::OurFault.number());
    }));
    if cfg!(debug_assertions)
        && let Some(why) = std::env::var_os(VARIABLE)
    {
        panic!("{}", why.to_string_lossy());
    }
}

fn report(panic: &PanicHookInfo<'_>, version: &str) -> String {
    let payload = panic.payload();
    let what = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "an unknown panic".to_owned());
    let place = match panic.location() {
        Some(place) => format!("{}:{}", place.file(), place.line()),
        None => "an unknown place".to_owned(),
    };
    let state = match crate::state_folder::home() {
        Ok(home) => home.root().display().to_string(),
        Err(_) => "unknown".to_owned(),
    };
    format!(
        "error: this is a bug in loopwright: {what}\n  at {place}, version {version}\n  \
         journal: {state}/journal.db\n\
         help: nothing that was recorded is lost; run the command again\n\
         help: if it happens again, report it with these lines and the end of {state}/worker.log\n"
    )
}
