//! A scripted model server on the loopback interface. It speaks the APIs of the model providers, so
//! that tests can drive the real agent CLIs without a model and without an account.
//!
//! Every request that declares tools takes one step of the script. Requests without tools (for
//! titles, or to see whether the server is there) get a fixed answer and take no step. After the
//! last step every answer is `done.` A server can also choose each answer by the request, for
//! several conversations at once.

mod anthropic;
mod fault;
mod gemini;
mod http;
mod openai;
mod step;
mod tools;

use std::fmt;
use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

pub use fault::Fault;
pub use step::Step;

use http::{Answer, Incoming};
use step::Action;

/// How often a hanging answer checks whether the client is still there.
const PING: Duration = Duration::from_millis(100);

/// A scripted model server. It stops when it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// A request that the server received.
#[derive(Debug, Clone)]
pub struct Request {
    /// The path, without the query.
    pub path: String,
    /// The keys that it came with, as they stand in its headers.
    pub keys: Vec<String>,
    /// How many tools it declared.
    pub n_tools: usize,
    /// The index of the step that it took; `None` if it took none.
    pub step_index: Option<usize>,
    /// The body; null if it was not JSON.
    pub body: Value,
}

struct Shared {
    script: Script,
    next: Mutex<usize>,
    requests: Mutex<Vec<Request>>,
    is_over: AtomicBool,
    n_ids: AtomicUsize,
}

/// Where answers come from.
enum Script {
    Steps(Vec<Step>),
    Choose(Box<Choose>),
}

/// Chooses an answer by the request.
type Choose = dyn Fn(&Request) -> Step + Send + Sync;

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("requests", &self.requests)
            .finish_non_exhaustive()
    }
}

impl Request {
    /// The whole body as JSON text. A prompt is in it with JSON escapes.
    pub fn text(&self) -> String {
        self.body.to_string()
    }

    /// How many tool results the conversation contains so far, in whichever API.
    pub fn n_tool_results(&self) -> usize {
        let text = self.text();
        // In the text of a prompt the quotes are escaped, so these match real fields only.
        let signs = [
            r#""type":"function_call_output""#,
            r#""type":"custom_tool_call_output""#,
            r#""type":"tool_result""#,
            r#""role":"tool""#,
            r#""functionResponse":"#,
        ];
        signs
            .into_iter()
            .map(|sign| text.matches(sign).count())
            .sum()
    }
}

/// The API of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Api {
    Responses,
    Chat,
    Messages,
    Gemini,
}

impl ModelServer {
    /// Starts a server with a script, on a free port.
    pub fn start(steps: Vec<Step>) -> Self {
        Self::listen(0, Script::Steps(steps))
    }

    /// Starts a server that chooses each answer by the request, on this port, or on a free one if
    /// it is 0. A client that repeats a request gets the same answer again, which a script of steps
    /// cannot promise.
    pub fn answering(port: u16, choose: impl Fn(&Request) -> Step + Send + Sync + 'static) -> Self {
        Self::listen(port, Script::Choose(Box::new(choose)))
    }

    fn listen(port: u16, script: Script) -> Self {
        let listener =
            TcpListener::bind(("127.0.0.1", port)).expect("the loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            script,
            next: Mutex::new(0),
            requests: Mutex::default(),
            is_over: AtomicBool::new(false),
            n_ids: AtomicUsize::new(1),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &accepting));
        Self { address, shared }
    }

    /// The address, such as `http://127.0.0.1:40001`. Most clients need `/v1` appended.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests to the model so far, in the order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        locked(&self.shared.requests).clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection, so that it sees the flag.
        drop(TcpStream::connect(self.address));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        // A thread per connection, because one answer may hang while other clients ask. An error
        // means that the client went away, which is no failure of the server.
        thread::spawn(move || drop(serve(&stream, &shared)));
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    // Each event of a stream is a small write, and must not wait for the next one.
    stream.set_nodelay(true)?;
    let Some(incoming) = http::read(&mut BufReader::new(stream))? else {
        return Ok(());
    };
    let mut answer = Answer::new(stream);
    let Some(api) = api_of(&incoming) else {
        return side_answer(&incoming, &mut answer);
    };
    let declared = tools::declared(&incoming.body);
    let mut request = Request {
        path: incoming.path.clone(),
        keys: incoming.keys.clone(),
        n_tools: declared.len(),
        step_index: None,
        body: incoming.body.clone(),
    };
    let step = shared.take_step(&mut request);
    // Recorded before the answer, so that a test that has seen the answer finds the request.
    locked(&shared.requests).push(request);
    thread::sleep(step.delay);
    Exchange {
        api,
        incoming: &incoming,
        declared: &declared,
        step: &step,
        shared,
    }
    .play(&mut answer)
}

fn api_of(incoming: &Incoming) -> Option<Api> {
    if incoming.method != "POST" {
        return None;
    }
    let path = incoming.path.as_str();
    [
        ("/responses", Api::Responses),
        ("/chat/completions", Api::Chat),
        ("/messages", Api::Messages),
    ]
    .into_iter()
    .find_map(|(end, api)| path.ends_with(end).then_some(api))
    // Both `generateContent` and `streamGenerateContent`.
    .or_else(|| path.ends_with("enerateContent").then_some(Api::Gemini))
}

/// Answers the other requests of clients: lists of models, token counts, probes.
fn side_answer(incoming: &Incoming, answer: &mut Answer<'_>) -> io::Result<()> {
    if incoming.path.ends_with("/models") {
        let model = json!({"id": "scripted", "object": "model", "created": 0, "owned_by": "test"});
        return answer.json(
            200,
            &json!({"object": "list", "data": [model], "models": []}),
        );
    }
    if incoming.path.ends_with("/count_tokens") {
        return answer.json(200, &json!({"input_tokens": 100}));
    }
    answer.json(if incoming.method == "GET" { 404 } else { 200 }, &json!({}))
}

impl Shared {
    fn take_step(&self, request: &mut Request) -> Step {
        // Clients that ask for a title want JSON; for the others any text will do.
        if request.n_tools == 0 {
            return Step::text("{\"title\":\"scripted\"}");
        }
        let steps = match &self.script {
            Script::Steps(steps) => steps,
            Script::Choose(choose) => return choose(request),
        };
        let mut next = locked(&self.next);
        let index = *next;
        let Some(step) = steps.get(index) else {
            return Step::text("done.");
        };
        if !step.is_repeated {
            *next += 1;
        }
        request.step_index = Some(index);
        step.clone()
    }

    /// A unique id. It contains the process id, so that servers in different test processes have
    /// different ids too.
    fn id(&self, prefix: &str) -> String {
        let number = self.n_ids.fetch_add(1, Ordering::SeqCst);
        format!("{prefix}_{}_{number}", std::process::id())
    }
}

/// One request and the step that answers it.
struct Exchange<'a> {
    api: Api,
    incoming: &'a Incoming,
    declared: &'a tools::Declared,
    step: &'a Step,
    shared: &'a Shared,
}

/// What the model says, and the tool it calls.
struct Turn {
    text: String,
    call: Option<tools::Call>,
}

impl Exchange<'_> {
    fn play(&self, answer: &mut Answer<'_>) -> io::Result<()> {
        match &self.step.action {
            Action::Status { status, body } => answer.raw(*status, &self.step.headers, body),
            Action::Fault(fault) => {
                let (status, headers, body) = fault.answer(self.api);
                let all: Vec<(String, String)> = headers
                    .into_iter()
                    .chain(self.step.headers.clone())
                    .collect();
                answer.raw(status, &all, &body.to_string())
            }
            Action::StreamFault(fault) if self.is_streaming() => {
                self.begin(answer)?;
                self.fail(answer, &fault.detail(self.api))
            }
            // Some clients repeat a request without streaming after a stream broke. They get the
            // same fault.
            Action::StreamFault(fault) => {
                let (status, headers, body) = fault.answer(self.api);
                answer.raw(status, &headers, &body.to_string())
            }
            Action::Drop => {
                if self.is_streaming() {
                    self.begin(answer)?;
                }
                Ok(())
            }
            Action::Hang => {
                self.begin(answer)?;
                self.hang(answer)
            }
            Action::Shell(_) | Action::Write { .. } | Action::Tool { .. } | Action::Text(_) => {
                self.speak(answer)
            }
        }
    }

    fn speak(&self, answer: &mut Answer<'_>) -> io::Result<()> {
        let turn = Turn {
            text: if let Action::Text(text) = &self.step.action {
                text.clone()
            } else {
                String::new()
            },
            call: tools::choose(&self.step.action, self.declared),
        };
        match self.api {
            Api::Responses => openai::responses(self, &turn, answer),
            Api::Chat => openai::chat(self, &turn, answer),
            Api::Messages => anthropic::messages(self, &turn, answer),
            Api::Gemini => gemini::content(self, &turn, answer),
        }
    }

    fn is_streaming(&self) -> bool {
        // Gemini asks for a stream in the path, the others in the body.
        let by_path = self.api == Api::Gemini && self.incoming.path.contains("stream");
        by_path || self.incoming.body["stream"] == true
    }

    /// Starts a stream with the events that come first, whatever follows.
    fn begin(&self, answer: &mut Answer<'_>) -> io::Result<()> {
        answer.begin_stream()?;
        match self.api {
            Api::Responses => openai::begin_responses(self, answer),
            Api::Chat => openai::begin_chat(self, answer),
            Api::Messages => anthropic::begin(self, answer),
            Api::Gemini => Ok(()),
        }
    }

    /// Ends a started stream with an error.
    fn fail(&self, answer: &mut Answer<'_>, error: &Value) -> io::Result<()> {
        match self.api {
            Api::Responses => openai::fail_responses(self, answer, error),
            Api::Messages => answer.event(Some("error"), &json!({"type": "error", "error": error})),
            Api::Chat | Api::Gemini => answer.event(None, &json!({"error": error})),
        }
    }

    /// Keeps the stream open until the client or the server goes away. The pings are comments,
    /// which clients ignore; writing one is the only way to notice that a client is gone.
    fn hang(&self, answer: &mut Answer<'_>) -> io::Result<()> {
        while !self.shared.is_over.load(Ordering::SeqCst) {
            thread::sleep(PING);
            answer.ping()?;
        }
        Ok(())
    }

    fn model(&self) -> &Value {
        &self.incoming.body["model"]
    }
}
