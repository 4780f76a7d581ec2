//! The client from start to end. Whatever the agent does, the client ends.

use std::io::{self, Write};
use std::path::PathBuf;
use std::pin::pin;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::{Agent, Client, Error, Lines, UntypedMessage};
use futures::SinkExt as _;
use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::{Either, select};

use crate::process::{self, Pipes, Signals};
use crate::report::Report;
use crate::turn::{Shared, Turn};

/// What a client should do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Orders {
    /// The agent's program.
    pub program: String,
    /// The agent's arguments.
    pub args: Vec<String>,
    /// The folder that the agent works in.
    pub cwd: PathBuf,
    /// The model, as the agent names it. Without one the agent uses its default.
    pub model: Option<String>,
    /// Reasoning effort to ask the model for, as the agent names it.
    pub effort: Option<String>,
    /// The session to resume. Without one a new session is opened.
    pub resume: Option<String>,
}

/// Why a turn did not end by itself.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The agent's program cannot be started.
    #[error("cannot start `{program}`: command not found, or not to be run")]
    CannotStart {
        /// The program.
        program: String,
        /// Why it cannot be started.
        #[source]
        source: io::Error,
    },
    /// The agent ended, or closed its output, before it answered.
    #[error("the agent ended before it had answered")]
    Gone,
    /// The agent answered with an error, which was reported as a line.
    #[error("the agent answered with an error")]
    Told,
    /// The agent opened a session without naming it.
    #[error("the agent named no session")]
    NoSession,
    /// The session to resume does not exist.
    #[error("no session found: {why}")]
    SessionLost {
        /// What the agent said.
        why: String,
    },
    /// The agent does not offer what was chosen.
    #[error("the agent has no {what} `{value}`; {list}")]
    NotOffered {
        /// The kind of choice.
        what: &'static str,
        /// The chosen value.
        value: String,
        /// The values that the agent offers.
        list: String,
    },
    /// A signal asked us to end.
    #[error("asked to end")]
    Cancelled,
    /// The client itself failed.
    #[error("the client failed")]
    Ours(#[source] Error),
    /// The system refused something that the client needs.
    #[error("the client cannot run")]
    Around(#[source] io::Error),
}

/// Runs one turn with the agent and reports it as lines of JSON.
pub fn run(orders: &Orders, prompt: &str, out: Box<dyn Write + Send>) -> Result<(), Fault> {
    // Handle signals before the agent starts, so that none can end us while it runs.
    let signals = process::signals().map_err(Fault::Around)?;
    let shared = Shared::new(Report::new(out));
    let strange = shared.clone();
    let agent = process::start(&orders.program, &orders.args, move |line| {
        strange.report().strange(line);
    })
    .map_err(|source| Fault::CannotStart {
        program: orders.program.clone(),
        source,
    })?;
    let turn = connected(agent.pipes, &shared, orders, prompt, signals);
    let ended = block_on(until_gone(turn, agent.gone));
    // The turn is over and its pipes are dropped, so the agent's input is closed by now.
    shared.report().flush_text();
    agent.ending.wait();
    ended
}

/// Ends the turn when the agent's process ends. Waiting for the end of its output is not enough,
/// because a child that it left behind may hold that open.
async fn until_gone(
    turn: impl Future<Output = Result<(), Fault>>,
    gone: oneshot::Receiver<()>,
) -> Result<(), Fault> {
    match select(pin!(turn), gone).await {
        Either::Left((ended, _)) => ended,
        Either::Right(_) => Err(Fault::Gone),
    }
}

async fn connected(
    pipes: Pipes,
    shared: &Shared,
    orders: &Orders,
    prompt: &str,
    signals: Signals,
) -> Result<(), Fault> {
    let hearing = shared.clone();
    let answering = shared.clone();
    let transport = Lines::new(pipes.input.sink_map_err(io::Error::other), pipes.output);
    let client = Client
        .v1()
        .on_receive_request(
            async move |message: UntypedMessage, responder, _| {
                answering.answer(&message, responder)
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |message: UntypedMessage, _| {
                hearing.hear(&message);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        );
    let ended = client
        .connect_with(transport, async |connection: ConnectionTo<Agent>| {
            let turn = Turn {
                connection: &connection,
                shared,
                orders,
            };
            // A fault of the turn is a value here: as an error it would lose its type.
            Ok(cancellable(&turn, prompt, signals).await)
        })
        .await;
    ended.map_err(Fault::Ours)?
}

/// Runs the turn until a signal comes. The agent is then asked to cancel, and may still answer
/// within the grace period.
async fn cancellable(turn: &Turn<'_>, prompt: &str, signals: Signals) -> Result<(), Fault> {
    match select(pin!(turn.take(prompt)), signals.asked).await {
        Either::Left((ended, _)) => ended,
        Either::Right((_, rest_of_turn)) => {
            // Before the prompt is sent there is nothing to cancel.
            let Some(session) = turn.shared.session() else {
                return Err(Fault::Cancelled);
            };
            turn.cancel(&session);
            match select(rest_of_turn, signals.expired).await {
                Either::Left((ended, _)) => ended,
                Either::Right(_) => Err(Fault::Cancelled),
            }
        }
    }
}
