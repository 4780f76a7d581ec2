//! Deeds under way: each on a thread of its own, so that a checkout of a hundred thousand files holds
//! up no other loop. Tests do them in the worker's own thread, one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use kernel::{Deed, Event, Order, RunKey};

use crate::carry_out::carry_out;
use crate::fault::Fault;
use crate::orders::run::has_ended;
use crate::ports::Ports;

/// Deeds that may be under way at once. Most are short; what comes beyond waits its turn.
const AT_ONCE_MAX: usize = 16;

/// The first and the longest pause before a deed that failed is tried again.
const PAUSE: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// How often a step of a loop is tried before a person is asked: it takes some seven minutes.
const TRIES_MAX: u32 = 20;

/// Where deeds are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// Each on its own thread.
    Threads,
    /// In the worker's thread, at once, without a pause between tries.
    Inline,
}

/// A deed that is done, or failed.
pub(crate) struct Done {
    pub(crate) order: Order,
    /// The loop's last record when the order was given.
    pub(crate) issued_at: u64,
    pub(crate) result: Result<Option<Event>, Fault>,
}

struct UnderWay {
    run: Option<RunKey>,
    is_ending: bool,
    moves_branch: bool,
    abort: Arc<AtomicBool>,
}

/// When a deed may be tried again.
struct Pause {
    is_ending: bool,
    until: Instant,
    length: Duration,
    /// How often it has failed in a row.
    tries: u32,
}

type Address = (String, String);

/// All deeds of one worker.
pub(crate) struct Deeds {
    execution: Execution,
    under_way: BTreeMap<Address, UnderWay>,
    pauses: BTreeMap<Address, Pause>,
    sender: Sender<Done>,
    receiver: Receiver<Done>,
}

impl Deeds {
    pub(crate) fn new(execution: Execution) -> Self {
        let (sender, receiver) = channel();
        Self {
            execution,
            under_way: BTreeMap::new(),
            pauses: BTreeMap::new(),
            sender,
            receiver,
        }
    }

    /// Whether an order can be carried out now: nothing else works on the same run, and the last
    /// try was long enough ago.
    pub(crate) fn is_free(&self, order: &Order) -> bool {
        let address = (order.loop_id.clone(), order.key());
        let is_paused = self
            .pauses
            .get(&address)
            .is_some_and(|pause| pause.until > Instant::now());
        if is_paused || self.under_way.len() >= AT_ONCE_MAX {
            return false;
        }
        // The end of a loop clears its folders, so it comes after whatever is still at work there.
        let is_end = matches!(order.deed, Deed::End { .. });
        // A landing and a retraction expect the branch where the other one leaves it.
        let moves_branch = moves_branch(order);
        !self.under_way.iter().any(|((loop_id, key), other)| {
            let is_same_run = other.run.is_some() && other.run.as_ref() == order.run();
            let is_same_branch = moves_branch && other.moves_branch;
            *loop_id == order.loop_id
                && (*key == address.1 || is_same_run || is_same_branch || is_end)
        })
    }

    /// Ends the pause of a run that had nothing to tell, where it has ended since.
    pub(crate) fn hear_of_an_end(&mut self, order: &Order, ports: &Ports) {
        let address = (order.loop_id.clone(), order.key());
        let pause = self.pauses.get(&address);
        if pause.is_some_and(|pause| pause.tries == 0)
            && let Deed::Run(run) = &order.deed
            && has_ended(order, run, ports)
        {
            self.pauses.remove(&address);
        }
    }

    /// Begins a deed, or does it; what came of it is then among the finished ones.
    pub(crate) fn begin(&mut self, order: Order, issued_at: u64, ports: &Arc<Ports>) {
        let address = (order.loop_id.clone(), order.key());
        let abort = Arc::new(AtomicBool::new(false));
        let deed = UnderWay {
            run: order.run().cloned(),
            is_ending: is_ending(&order),
            moves_branch: moves_branch(&order),
            abort: Arc::clone(&abort),
        };
        self.under_way.insert(address, deed);
        let sender = self.sender.clone();
        let ports = Arc::clone(ports);
        let work = move || {
            let result = workspace::abortable(abort, || traced(&order, &ports));
            // The receiver is gone only if the worker is.
            let _ = sender.send(Done {
                order,
                issued_at,
                result,
            });
            home::wake_worker(&ports.home);
        };
        if self.execution == Execution::Inline {
            return work();
        }
        let work = Arc::new(std::sync::Mutex::new(Some(work)));
        let taken = Arc::clone(&work);
        let spawned = std::thread::Builder::new()
            .name("deed".to_owned())
            .spawn(move || take(&taken));
        if spawned.is_err() {
            // No thread is to be had just now: the deed is done all the same, only not beside others.
            take(&work);
        }
    }

    /// The deeds that are done since the last call.
    pub(crate) fn finished(&mut self) -> Vec<Done> {
        let mut done: Vec<Done> = self.receiver.try_iter().collect();
        for done in &mut done {
            let address = (done.order.loop_id.clone(), done.order.key());
            self.under_way.remove(&address);
            let tries = self.pauses.get(&address).map_or(0, |pause| pause.tries);
            ask_after(tries + 1, done);
            self.pace(address, done);
        }
        done
    }

    /// Pauses a deed that failed, longer each time; one that has nothing to tell yet is asked again
    /// soon.
    fn pace(&mut self, address: Address, done: &Done) {
        let result = &done.result;
        if self.execution == Execution::Inline || matches!(result, Ok(Some(_))) {
            self.pauses.remove(&address);
            return;
        }
        let before = self.pauses.get(&address);
        let (length, tries) = match result {
            Ok(_) | Err(Fault::Aborted) => (PAUSE / 5, 0),
            Err(_) => before.map_or((PAUSE, 1), |before| {
                ((before.length * 2).min(PAUSE_MAX), before.tries + 1)
            }),
        };
        let until = Instant::now() + length;
        let pause = Pause {
            is_ending: is_ending(&done.order),
            until,
            length,
            tries,
        };
        self.pauses.insert(address, pause);
    }

    /// When the first pause ends. One that is over is nothing to wait for: its deed is under way, or
    /// nobody owes it any more.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let now = Instant::now();
        let ends = self.pauses.values().map(|pause| pause.until);
        ends.filter(|until| *until > now).min()
    }

    /// Breaks off what is under way for a loop: somebody wants it to end. What ends it goes on, and
    /// keeps its pace.
    pub(crate) fn abort(&mut self, loop_id: &str) {
        for ((of_loop, _), deed) in &self.under_way {
            if of_loop == loop_id && !deed.is_ending {
                deed.abort.store(true, Ordering::Release);
            }
        }
        self.pauses
            .retain(|(of_loop, _), pause| of_loop != loop_id || pause.is_ending);
    }

    /// Ends the pauses of a loop: what failed may succeed now.
    pub(crate) fn hurry(&mut self, loop_id: &str) {
        self.pauses.retain(|(of_loop, _), _| of_loop != loop_id);
    }

    /// Ends all pauses: somebody is looking.
    pub(crate) fn hurry_all(&mut self) {
        self.pauses.clear();
    }

    /// Forgets pauses that are long over, of orders that nobody owes any more.
    pub(crate) fn forget_old(&mut self) {
        let now = Instant::now();
        self.pauses.retain(|_, pause| pause.until + PAUSE_MAX > now);
    }

    /// Whether anything is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }
}

/// Makes a question of a fault that does not pass.
fn ask_after(tries: u32, done: &mut Done) {
    if tries >= TRIES_MAX
        && let Err(fault @ Fault::Transient { .. }) = &done.result
    {
        done.result = Err(Fault::NeedsPerson {
            what: format!("{} ({tries} times in a row)", fault.words()),
            remedy: "mend that".to_owned(),
        });
    }
}

/// Whether an order is what a cancel comes to: keeping and showing the work, ending the loop.
fn is_ending(order: &Order) -> bool {
    matches!(
        order.deed,
        Deed::StopRun(_)
            | Deed::End { .. }
            | Deed::Announce { .. }
            | Deed::Publish(_)
            | Deed::Retract(_)
    )
}

/// Whether an order moves the loop's own branch.
fn moves_branch(order: &Order) -> bool {
    matches!(order.deed, Deed::Integrate { .. } | Deed::Retract(_))
}

fn take(work: &std::sync::Mutex<Option<impl FnOnce()>>) {
    let work = work
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .take();
    if let Some(work) = work {
        work();
    }
}

/// Carries out an order inside a span that says which.
fn traced(order: &Order, ports: &Ports) -> Result<Option<Event>, Fault> {
    let run = order.run();
    let span = tracing::info_span!(
        "order",
        key = order.key(),
        loop_id = %order.loop_id,
        story = run.map(|run| run.story.as_str()),
        attempt = run.map(|run| run.attempt),
        stage = run.map(|run| run.stage.word()),
        run = run.map(|run| run.try_number),
    );
    let _entered = span.enter();
    let result = carry_out(order, ports);
    match &result {
        Ok(Some(event)) => tracing::info!(event = event.kind(), "order carried out"),
        Ok(None) => tracing::debug!("nothing to record yet"),
        Err(fault) => tracing::warn!(?fault, "order failed"),
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> Done {
        let base = kernel::Commit::new(&"a".repeat(40)).expect("a commit");
        Done {
            order: Order {
                loop_id: "loop".to_owned(),
                project: "project".to_owned(),
                settings: "{}".into(),
                deed: Deed::Prepare { base },
            },
            issued_at: 1,
            result: Err(Fault::transient("make it", "no thread is left")),
        }
    }

    #[test]
    fn a_fault_that_does_not_pass_is_asked_about_in_the_end() {
        let mut deeds = Deeds::new(Execution::Threads);
        for tries in 1..=TRIES_MAX {
            deeds.sender.send(failed()).expect("sent");
            let done = deeds.finished().pop().expect("one");
            let is_asked = matches!(done.result, Err(Fault::NeedsPerson { .. }));
            assert_eq!(is_asked, tries == TRIES_MAX, "try {tries}");
        }
    }

    fn order(deed: Deed) -> Order {
        Order {
            deed,
            ..failed().order
        }
    }

    fn landing() -> Order {
        let base = kernel::Commit::new(&"a".repeat(40)).expect("a commit");
        order(Deed::Integrate {
            story: "one".into(),
            attempt: 1,
            branch: "branch".to_owned(),
            from: base.clone(),
            base: base.clone(),
            to: base,
        })
    }

    fn retraction() -> Order {
        let base = kernel::Commit::new(&"a".repeat(40)).expect("a commit");
        order(Deed::Retract(Box::new(kernel::RetractOrder {
            story: "two".into(),
            attempt: 1,
            branch: "branch".to_owned(),
            from: base.clone(),
            commit: base.clone(),
            to: base,
            why: String::new(),
        })))
    }

    #[test]
    fn the_loops_branch_is_moved_by_one_deed_at_a_time() {
        for (first, second) in [(landing(), retraction()), (retraction(), landing())] {
            let mut deeds = Deeds::new(Execution::Threads);
            assert!(deeds.is_free(&second), "nothing is under way");
            let under_way = UnderWay {
                run: None,
                is_ending: is_ending(&first),
                moves_branch: moves_branch(&first),
                abort: Arc::default(),
            };
            deeds
                .under_way
                .insert((first.loop_id.clone(), first.key()), under_way);
            assert!(
                !deeds.is_free(&second),
                "{} beside {}",
                second.key(),
                first.key()
            );
            let mut elsewhere = second;
            elsewhere.loop_id = "another".to_owned();
            assert!(deeds.is_free(&elsewhere), "another loop has its own branch");
        }
    }

    #[test]
    fn a_cancel_does_not_break_off_what_takes_work_back() {
        assert!(is_ending(&retraction()) && !is_ending(&landing()));
    }

    #[test]
    fn a_pause_that_is_over_is_nothing_to_wait_for() {
        let mut deeds = Deeds::new(Execution::Threads);
        deeds.sender.send(failed()).expect("sent");
        deeds.finished();
        assert!(deeds.next_due().is_some(), "the pause");
        for pause in deeds.pauses.values_mut() {
            pause.until = Instant::now();
        }
        assert_eq!(deeds.next_due(), None, "it is over");
    }
}
