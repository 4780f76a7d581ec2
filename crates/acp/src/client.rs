//! The client from its start to its end: whatever the agent does, there is an end.

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

/// What a client is to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Orders {
    /// The agent's program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The folder that the agent works in.
    pub cwd: PathBuf,
    /// The model, in the agent's own words; its own choice without one.
    pub model: Option<String>,
    /// How hard it is to think, in the agent's own words.
    pub effort: Option<String>,
    /// The session to go on with; a new one without it.
    pub resume: Option<String>,
}

/// Why a turn has no end of its own.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The agent's program cannot be started.
    #[error("cannot start `{program}`: command not found, or not to be run")]
    CannotStart {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The agent ended, or closed its output, before its answer.
    #[error("the agent ended before it had answered")]
    Gone,
    /// The agent answered with an error, which is in the lines.
    #[error("the agent answered with an error")]
    Told,
    /// The agent opened a session and did not name it.
    #[error("the agent named no session")]
    NoSession,
    /// The session that was to be gone on with is not there.
    #[error("no session found: {why}")]
    SessionLost {
        /// What the agent said.
        why: String,
    },
    /// The agent does not have what was chosen.
    #[error("the agent has no {what} `{value}`; {list}")]
    NotOffered {
        /// The kind of choice.
        what: &'static str,
        /// What was chosen.
        value: String,
        /// What it has.
        list: String,
    },
    /// We were asked to end, and ended.
    #[error("asked to end")]
    Cancelled,
    /// Something of ours.
    #[error("the client failed")]
    Ours(#[source] Error),
    /// Something around us.
    #[error("the client cannot run")]
    Around(#[source] io::Error),
}

/// Takes one turn with the agent and tells of it in lines of JSON.
pub fn run(orders: &Orders, prompt: &str, out: Box<dyn Write + Send>) -> Result<(), Fault> {
    let signals = process::signals().map_err(Fault::Around)?;
    let shared = Shared::new(Report::new(out));
    let strange = shared.clone();
    let agent = process::start(&orders.program, &orders.args, move |line| {
        strange.report().strange(line)
    })
    .map_err(|source| Fault::CannotStart {
        program: orders.program.clone(),
        source,
    })?;
    let turn = connected(agent.pipes, &shared, orders, prompt, signals);
    let ended = block_on(until_gone(turn, agent.gone));
    shared.report().flush_text();
    agent.ending.wait();
    ended
}

/// An agent that has ended answers nothing more, whoever still holds its output open.
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
    let (hearing, answering) = (shared.clone(), shared.clone());
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
            Ok(cancellable(&turn, prompt, signals).await)
        })
        .await;
    ended.map_err(Fault::Ours)?
}

/// The turn, or as much of it as a signal leaves: the agent is told, and may still answer.
async fn cancellable(turn: &Turn<'_>, prompt: &str, signals: Signals) -> Result<(), Fault> {
    match select(pin!(turn.take(prompt)), signals.asked).await {
        Either::Left((ended, _)) => ended,
        Either::Right((_, going_on)) => {
            let Some(session) = turn.shared.session() else {
                return Err(Fault::Cancelled);
            };
            turn.cancel(&session);
            match select(going_on, signals.expired).await {
                Either::Left((ended, _)) => ended,
                Either::Right(_) => Err(Fault::Cancelled),
            }
        }
    }
}
