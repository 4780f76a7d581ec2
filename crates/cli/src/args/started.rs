//! The command lines of processes that we start ourselves. A story starts dozens of them, and laying out
//! everything that a person may type costs such a process more than its own work.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{Args, Command, Global, ProcessCommand, When};

/// Reads the words of a process of ours; none for any other words, which are read the whole way. They are
/// those that we write, with an absolute folder.
pub(crate) fn read_started(words: impl IntoIterator<Item = OsString>) -> Option<Args> {
    let mut words = words.into_iter();
    let (verb, folder) = (words.next()?, PathBuf::from(words.next()?));
    if words.next().is_some() || !folder.is_absolute() {
        return None;
    }
    let command = match verb.to_str()? {
        "keeper" => ProcessCommand::Keeper { folder },
        "measure" => ProcessCommand::Measure { folder },
        _ => return None,
    };
    Some(Args {
        global: Global {
            json: false,
            color: When::Auto,
        },
        command: Command::Process(command),
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[test]
    fn what_is_read_the_short_way_means_the_same() {
        for (words, is_short) in [
            (&["keeper", "/runs/one"][..], true),
            (&["measure", "/runs/one"], true),
            (&["keeper", "one"], false),
            (&["measure", "--help"], false),
            (&["keeper", "/runs/one", "--json"], false),
            (&["keeper"], false),
            (&["status", "/runs/one"], false),
            (&["wake"], false),
        ] {
            let short = read_started(words.iter().map(OsString::from));
            assert_eq!(short.is_some(), is_short, "{words:?}");
            let whole = Args::try_parse_from(["loopwright"].iter().chain(words));
            if let Some(short) = short {
                let whole = whole.expect("words that we write");
                assert_eq!(format!("{short:?}"), format!("{whole:?}"));
            }
        }
    }
}
