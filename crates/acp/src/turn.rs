//! The requests of a turn, in order: initialize, open a session, make the choices, send the prompt.
//! The requests that the agent makes meanwhile are answered here too.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, Implementation, InitializeRequest, LoadSessionRequest,
    NewSessionRequest, PermissionOptionKind, PromptRequest, RequestPermissionOutcome,
    RequestPermissionResponse, SelectedPermissionOutcome, TextContent,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, Error, ErrorCode, UntypedMessage};
use serde::Serialize;
use serde_json::{Value, json};

use crate::choices::{Choice, NotOffered, Offer};
use crate::client::{Fault, Orders};
use crate::report::{Event, Report};
use crate::updates;

/// How many of the offered values an error names.
const NAMED_MAX: usize = 12;

/// The state that both directions of the connection share.
#[derive(Clone)]
pub(crate) struct Shared {
    report: Arc<Mutex<Report>>,
    /// The session, once the prompt is sent. Updates before that replay a resumed session's past or
    /// echo our choices, so they are ignored.
    session: Arc<Mutex<Option<String>>>,
}

impl Shared {
    pub(crate) fn new(report: Report) -> Self {
        Self {
            report: Arc::new(Mutex::new(report)),
            session: Arc::default(),
        }
    }

    pub(crate) fn report(&self) -> MutexGuard<'_, Report> {
        // Each line is written whole, so a report is usable even after a panic elsewhere.
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn session(&self) -> Option<String> {
        self.session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn begin(&self, id: &str) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.to_owned());
    }

    /// Reads a notification of the agent. One that is not about our session only shows that the
    /// agent is alive.
    pub(crate) fn hear(&self, message: &UntypedMessage) {
        let params = &message.params;
        let is_ours = message.method == "session/update"
            && self
                .session()
                .is_some_and(|session| params["sessionId"] == session);
        if is_ours {
            updates::take(&params["update"], &mut self.report());
        } else {
            self.report().alive();
        }
    }

    /// Answers a request of the agent. Permissions are granted, but only once each: the agent may
    /// write a permanent one into the checkout, where it would be taken for work. No other request
    /// is supported.
    pub(crate) fn answer(
        &self,
        message: &UntypedMessage,
        responder: Responder,
    ) -> Result<(), Error> {
        if message.method != "session/request_permission" {
            return responder.respond_with_error(Error::method_not_found());
        }
        let params = &message.params;
        let option = allowing(&params["options"]);
        let mut report = self.report();
        let call = &params["toolCall"];
        // Some agents ask for permission before they report the call.
        updates::tool(call, &mut report);
        let what = call["title"].as_str().unwrap_or_default();
        report.tell(&Event::Permission {
            what,
            allowed: option.is_some(),
        });
        let outcome = option.map_or(RequestPermissionOutcome::Cancelled, |id| {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id.to_owned()))
        });
        responder.respond(json!(RequestPermissionResponse::new(outcome)))
    }
}

/// The option that grants the permission, found by its kind and never by its position or its name.
fn allowing(options: &Value) -> Option<&str> {
    let options = options.as_array()?;
    let option = [
        PermissionOptionKind::AllowOnce,
        PermissionOptionKind::AllowAlways,
    ]
    .into_iter()
    .find_map(|kind| options.iter().find(|option| option["kind"] == json!(kind)))?;
    option["optionId"].as_str()
}

/// One turn with an agent.
pub(crate) struct Turn<'a> {
    pub(crate) connection: &'a ConnectionTo<Agent>,
    pub(crate) shared: &'a Shared,
    pub(crate) orders: &'a Orders,
}

impl Turn<'_> {
    pub(crate) async fn take(&self, prompt: &str) -> Result<(), Fault> {
        let hello = self.say_hello().await?;
        let (session, answer) = self.open(&hello["agentCapabilities"]).await?;
        self.choose(&Offer {
            session: &session,
            answer: &answer,
        })
        .await?;
        // From here on the agent's updates belong to the turn.
        self.shared.begin(&session);
        let content = vec![ContentBlock::Text(TextContent::new(prompt))];
        let answer = self
            .ask("session/prompt", PromptRequest::new(session, content))
            .await?;
        let mut report = self.shared.report();
        updates::usage(&answer, &mut report);
        report.tell(&Event::Stopped {
            reason: answer["stopReason"].as_str().unwrap_or_default(),
        });
        Ok(())
    }

    /// Asks the agent to cancel the turn.
    pub(crate) fn cancel(&self, session: &str) {
        self.shared.report().tell(&Event::Cancelling);
        let _ = self
            .connection
            .send_notification(CancelNotification::new(session.to_owned()));
    }

    async fn say_hello(&self) -> Result<Value, Fault> {
        let us = Implementation::new("loopwright", env!("CARGO_PKG_VERSION"));
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_info(us);
        let answer = self.ask("initialize", hello).await?;
        let info = &answer["agentInfo"];
        self.shared.report().tell(&Event::Agent {
            name: info["name"].as_str(),
            version: info["version"].as_str(),
            // Says whether this agent can resume at all; some claim it and lose the session anyway.
            resumes: Resume::of(&answer["agentCapabilities"]).is_some(),
        });
        Ok(answer)
    }

    /// Opens the session. Returns its id and the agent's answer, which holds its offers.
    async fn open(&self, capabilities: &Value) -> Result<(String, Value), Fault> {
        let cwd = &self.orders.cwd;
        let (id, answer) = match &self.orders.resume {
            None => {
                let answer = self.ask("session/new", NewSessionRequest::new(cwd)).await?;
                let id = answer["sessionId"]
                    .as_str()
                    .ok_or(Fault::NoSession)?
                    .to_owned();
                (id, answer)
            }
            Some(id) => (id.clone(), self.resume(id, capabilities, cwd).await?),
        };
        let is_resumed = self.orders.resume.is_some();
        self.shared.report().tell(&Event::Session {
            id: &id,
            resumed: is_resumed,
        });
        Ok((id, answer))
    }

    /// Resumes a session, without a replay of its past if the agent supports that.
    async fn resume(&self, id: &str, capabilities: &Value, cwd: &Path) -> Result<Value, Fault> {
        let Some(how) = Resume::of(capabilities) else {
            return Err(Fault::SessionLost {
                why: "the agent cannot go on with a session".to_owned(),
            });
        };
        // `session/resume` takes the same parameters as `session/load`.
        let order = LoadSessionRequest::new(id.to_owned(), cwd);
        self.request(how.method(), order).await.map_err(|error| {
            // Agents have no common error for an unknown session, so any error counts as a lost one
            // unless it clearly is something else: a missing login or the agent's end.
            let is_other = is_over(&error) || error.code == ErrorCode::AUTH_REQUIRED;
            if is_other {
                self.fault(how.method(), &error)
            } else {
                Fault::SessionLost { why: words(&error) }
            }
        })
    }

    /// Chooses mode, model and effort. A refused mode does not matter, because the agent then asks
    /// for permission and gets it. A model that is not offered is an error, because another one
    /// would cost and judge differently.
    async fn choose(&self, offer: &Offer<'_>) -> Result<(), Fault> {
        if let Some(mode) = offer.free_mode()
            && let Ok(Some(order)) = offer.choose(Choice::Mode, mode)
        {
            self.try_mode(mode, order.method, order.params).await?;
        }
        for (choice, value) in [
            (Choice::Model, &self.orders.model),
            (Choice::Effort, &self.orders.effort),
        ] {
            let Some(value) = value else { continue };
            let order = offer
                .choose(choice, value)
                .map_err(|none| not_offered(choice, value, &none))?;
            if let Some(order) = order {
                self.ask(order.method, order.params).await?;
            }
        }
        let model = self
            .orders
            .model
            .clone()
            .or_else(|| offer.current(Choice::Model));
        if let Some(id) = &model {
            self.shared.report().tell(&Event::Model { id });
        }
        Ok(())
    }

    async fn try_mode(&self, mode: &str, method: &str, params: Value) -> Result<(), Fault> {
        match self.request(method, params).await {
            Ok(_) => self.shared.report().tell(&Event::Mode { id: mode }),
            Err(error) if is_over(&error) => return Err(Fault::Gone),
            Err(error) => self.shared.report().tell(&Event::Notice {
                text: &format!("the mode `{mode}` is refused: {}", words(&error)),
            }),
        }
        Ok(())
    }

    async fn ask(&self, method: &str, params: impl Serialize) -> Result<Value, Fault> {
        self.request(method, params)
            .await
            .map_err(|error| self.fault(method, &error))
    }

    /// Sends a request and returns the answer as plain JSON. The crate's types would drop what
    /// agents put beside the protocol.
    async fn request(&self, method: &str, params: impl Serialize) -> Result<Value, Error> {
        let message = UntypedMessage::new(method, params)?;
        self.connection.send_request(message).block_task().await
    }

    /// Reports an error of the agent.
    fn fault(&self, during: &str, error: &Error) -> Fault {
        if is_over(error) {
            return Fault::Gone;
        }
        self.shared.report().tell(&Event::Error {
            during,
            code: error.code.into(),
            message: &error.message,
            data: error.data.as_ref(),
        });
        Fault::Told
    }
}

/// How an agent resumes a session.
#[derive(Clone, Copy)]
enum Resume {
    /// The agent resumes it silently.
    Quietly,
    /// The agent replays the session's past first.
    WithItsPast,
}

impl Resume {
    fn of(capabilities: &Value) -> Option<Self> {
        if capabilities["sessionCapabilities"]["resume"].is_object() {
            Some(Self::Quietly)
        } else {
            (capabilities["loadSession"] == true).then_some(Self::WithItsPast)
        }
    }

    fn method(self) -> &'static str {
        match self {
            Self::Quietly => "session/resume",
            Self::WithItsPast => "session/load",
        }
    }
}

/// Says whether an error means that the connection is closed, rather than an answer of the agent.
fn is_over(error: &Error) -> bool {
    agent_client_protocol::is_incoming_transport_closed(error)
        || agent_client_protocol::is_connection_terminated(error)
}

/// The message of an error. Its data often says more than the message itself.
fn words(error: &Error) -> String {
    let detail = error.data.as_ref().and_then(|data| {
        [data, &data["details"], &data["message"]]
            .into_iter()
            .find_map(Value::as_str)
    });
    detail.map_or_else(
        || error.message.clone(),
        |detail| format!("{}: {detail}", error.message),
    )
}

fn not_offered(choice: Choice, value: &str, none: &NotOffered) -> Fault {
    let what = match choice {
        Choice::Mode => "mode",
        Choice::Model => "model",
        Choice::Effort => "effort",
    };
    let mut offered = none.offered.clone();
    let more = offered.len().saturating_sub(NAMED_MAX);
    offered.truncate(NAMED_MAX);
    let list = match (offered.is_empty(), more) {
        (true, _) => "it lets nobody choose".to_owned(),
        (false, 0) => format!("it has {}", offered.join(", ")),
        (false, more) => format!("it has {} and {more} more", offered.join(", ")),
    };
    Fault::NotOffered {
        what,
        value: value.to_owned(),
        list,
    }
}
