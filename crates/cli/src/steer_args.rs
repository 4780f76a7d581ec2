//! The command line of the verbs with which a person steers one story.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum SteerCommand {
    /// Try a story again, with as many attempts as at first; a loop that is over goes on
    #[command(override_usage = "loopwright retry [OPTIONS] [ID] STORY")]
    Retry {
        #[command(flatten)]
        which: WhichStory,
        /// What the next attempts shall know
        #[arg(long, value_name = "TEXT")]
        hint: Option<String>,
        /// The agent that implements it from now on
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// The flow that it follows from now on: quartet, tdd, proof, judged or solo
        #[arg(long, value_name = "NAME")]
        flow: Option<String>,
    },
    /// Set a story aside; whatever works on it is stopped
    #[command(override_usage = "loopwright skip [OPTIONS] [ID] STORY")]
    Skip {
        #[command(flatten)]
        which: WhichStory,
        /// Why, for whoever looks later
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Let a candidate land that was rejected, on your own word
    ///
    /// It lands on top of the branch as it is now, and is measured again if something landed since. The
    /// commit says `Verified: person` and names you.
    #[command(override_usage = "loopwright accept [OPTIONS] [ID] STORY")]
    Accept {
        #[command(flatten)]
        which: WhichStory,
        /// This attempt's candidate; by default the last one
        #[arg(long, value_name = "N")]
        attempt: Option<u32>,
        /// Why; needed where checks are red or did not run
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Do a story yourself: a work tree to commit in, then --done hands it in to be checked and judged
    #[command(override_usage = "loopwright take [OPTIONS] [ID] STORY [FOLDER]")]
    Take {
        /// The loop's id, or the beginning or end of it; by default the loop here that has the story, the
        /// newest one if all of them are over
        id: Option<String>,
        /// The story's id, which may also stand alone
        story: Option<String>,
        /// A new folder for the work tree; by default one beside the project
        folder: Option<PathBuf>,
        /// Hand in what you committed there
        #[arg(long, conflicts_with_all = ["give_back", "folder"])]
        done: bool,
        /// Hand in this commit of the project's repository instead
        #[arg(long, value_name = "COMMIT", requires = "done")]
        commit: Option<String>,
        /// Leave the story to the agents again
        #[arg(long, conflicts_with = "folder")]
        give_back: bool,
    },
}

/// A story, and the loop that it is of.
#[derive(Debug, ClapArgs)]
pub(crate) struct WhichStory {
    /// The loop's id, or the beginning or end of it; by default the loop here that has the story, the
    /// newest one if all of them are over
    pub(crate) id: Option<String>,
    /// The story's id, which may also stand alone
    pub(crate) story: Option<String>,
}
