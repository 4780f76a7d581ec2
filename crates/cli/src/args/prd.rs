//! `loopwright prd …` as people type it.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum PrdCommand {
    /// Report everything that is wrong with a PRD; exit code 0 if a loop could start from it, 2 if
    /// not
    Check {
        #[command(flatten)]
        source: PrdSource,
        /// Show every warning, not just the first few of each code
        #[arg(long)]
        all: bool,
        /// Treat warnings as errors
        #[arg(long)]
        strict: bool,
    },
    /// Show a PRD as it was understood, and everything that was read differently from how it was
    /// written
    Show {
        #[command(flatten)]
        source: PrdSource,
    },
    /// Print a PRD in its canonical form
    Fmt {
        #[command(flatten)]
        source: PrdSource,
        /// The syntax to write; by default that of the file (YAML for tickets)
        #[arg(long, value_name = "SYNTAX")]
        to: Option<FmtSyntax>,
        /// Replace the file instead of printing
        #[arg(long, conflicts_with = "check")]
        write: bool,
        /// Print nothing; exit code 1 if the file is not in canonical form
        #[arg(long)]
        check: bool,
    },
    /// Print the JSON Schema of the canonical form
    Schema,
    /// Show the order in which stories would run
    Order {
        #[command(flatten)]
        source: PrdSource,
        /// A list, or a graph of the dependencies for other programs
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: OrderFormat,
    },
    /// Set the state of one story in the file and leave every other byte as it is
    Mark {
        #[command(flatten)]
        source: PrdSource,
        /// The story's id
        story: String,
        /// The new state
        #[arg(long = "as", value_name = "STATE", default_value = "passed")]
        state: MarkState,
        /// Show the change without writing it
        #[arg(long)]
        dry_run: bool,
    },
}

/// Where a PRD comes from.
#[derive(Debug, ClapArgs)]
pub(crate) struct PrdSource {
    /// The PRD: a JSON or YAML file, a folder of Markdown tickets, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// A further agent that a story's `tool` may name; may be given several times
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FmtSyntax {
    Json,
    Yaml,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderFormat {
    Text,
    Dot,
    Mermaid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MarkState {
    Passed,
    Skipped,
    Open,
}
