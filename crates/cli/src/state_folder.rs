//! Where our state lies: `$LOOPWRIGHT_HOME`, else the platform's place for state.

use home::Home;

use crate::failure::{Exit, Failure};

/// The state folder of this person.
pub fn home() -> Result<Home, Failure> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(std::path::PathBuf::from)
    };
    let of_person =
        || Some(variable("HOME")?.join(".local/state")).map(|folder| folder.join("loopwright"));
    let root = variable("LOOPWRIGHT_HOME")
        .or_else(|| variable("XDG_STATE_HOME").map(|folder| folder.join("loopwright")))
        .or_else(of_person);
    root.map(Home::at).ok_or_else(|| Failure {
        exit: Exit::Environment,
        message: "there is no place for our state: neither LOOPWRIGHT_HOME nor HOME is set"
            .to_owned(),
        hints: vec!["set LOOPWRIGHT_HOME to a folder of your own".to_owned()],
    })
}
