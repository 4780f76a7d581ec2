//! The durable loop: what looking costs on a large journal, and what the engine adds to a run
//! beside the bare calls that it cannot avoid.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use journal::{Journal, NewRecord};
use kernel::{
    Commit, Deed, Event, LoopSpec, Order, PublishResult, RunOrder, RunOutcome, Stage, Stamped,
    State, StorySpec, Verdict, WriteBack,
};

use crate::driven::program;
use crate::talk::{Outcome, say};

/// What one run of a role is recorded with: its start and its end, and the candidate that comes of
/// it.
const RECORDS_PER_RUN: u64 = 3;
/// The best of so many rounds counts, ours and theirs in turns.
const ROUNDS: u32 = 25;
const BODY: &str =
    r#"{"type":"run-started","run":{"story":"s1","attempt":1,"stage":"implement","try_number":1}}"#;

pub(crate) fn run() -> Outcome<()> {
    let scratch = tempfile::tempdir()?;
    status_on_a_large_journal(scratch.path())?;
    deeds_beside_bare_git(scratch.path())
}

/// 100,000 records: 1,000 loops of about 100.
fn status_on_a_large_journal(folder: &Path) -> Outcome<()> {
    let journal = Journal::open(&folder.join("large"))?;
    let (mut records, mut loops) = (0, 0);
    while records < 100_000 {
        let loop_id = format!("01{loops:024}");
        let played = played(&loop_id)?;
        let bodies: Vec<String> = played
            .iter()
            .map(|record| serde_json::to_string(&record.event))
            .collect::<Result<_, _>>()?;
        let new: Vec<NewRecord<'_>> = played
            .iter()
            .zip(&bodies)
            .map(|(record, body)| NewRecord {
                at_ms: record.at_ms,
                kind: record.event.kind(),
                body,
            })
            .collect();
        journal.append(&loop_id, 0, None, &new)?;
        records += played.len();
        loops += 1;
    }
    let one = best(5, || {
        home::load(&journal, "01000000000000000000000500")
            .map(|loaded| views::loop_view(&loaded.state))
    })?;
    let whole = if let Ok(program) = program() {
        let look = || {
            Command::new(&program)
                .args(["status", "01000000000000000000000500"])
                .env("LOOPWRIGHT_HOME", folder.join("large"))
                .output()
        };
        format!(
            "; `loopwright status ID` as a whole program {:.1} ms",
            millis(best(9, look)?)
        )
    } else {
        "; build the program with --release to measure it as a whole".to_owned()
    };
    say(&format!(
        "status of one of {loops} loops in a journal of {records} records: {:.2} ms{whole}",
        millis(one)
    ));
    Ok(())
}

/// What one role run costs beside its agent, against the bare git calls for the same deeds in the
/// same run.
fn deeds_beside_bare_git(folder: &Path) -> Outcome<()> {
    let project = folder.join("project");
    std::fs::create_dir_all(project.join("src"))?;
    for number in 0..200 {
        std::fs::write(
            project.join(format!("src/file-{number}.txt")),
            format!("line {number}\n").repeat(40),
        )?;
    }
    let base = workspace::init_repository(&project, "start")?;
    let repository = workspace::LoopRepo::create(&project, &folder.join("repo.git"), &base)?;
    let (mut ours, mut plain) = (Duration::MAX, Duration::MAX);
    let journal = Journal::open(&folder.join("deeds"))?;
    for round in 0..ROUNDS {
        let checkout = folder.join(format!("ours-{round}"));
        let start = Instant::now();
        for number in 0..RECORDS_PER_RUN {
            let record = NewRecord {
                at_ms: 1,
                kind: "run-started",
                body: BODY,
            };
            journal.append(
                "one",
                u64::from(round) * RECORDS_PER_RUN + number,
                None,
                &[record],
            )?;
        }
        repository.checkout(&base, &checkout)?;
        repository.make_agent_repo(&base, None, &checkout)?;
        std::fs::write(checkout.join("new.txt"), format!("round {round}\n"))?;
        let snapshot = repository.snapshot(&checkout, &base, &[])?;
        let commit = repository.commit(&snapshot.tree, &base, "feat: a candidate\n", 1)?;
        repository.move_ref(
            &format!("refs/loopwright/candidates/{round}"),
            None,
            &commit,
        )?;
        ours = ours.min(start.elapsed());
        plain = plain.min(bare_git(
            &folder.join("repo.git"),
            &folder.join(format!("bare-{round}")),
            base.as_str(),
            round,
        )?);
    }
    let ratio = ours.as_secs_f64() / plain.as_secs_f64();
    say(&format!(
        "records, checkout, agent repository, candidate and ref of 200 files: ours {:.1} ms, bare git and fsync for the same {:.1} ms ({ratio:.2}×)",
        millis(ours),
        millis(plain)
    ));
    Ok(())
}

/// The same deeds with plain git commands: files out, a repository of the agent's with one commit,
/// files in, commit, ref.
fn bare_git(git_dir: &Path, checkout: &Path, base: &str, round: u32) -> Outcome<Duration> {
    std::fs::create_dir_all(checkout)?;
    let index = checkout.with_extension("index");
    let start = Instant::now();
    let mut log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(git_dir.with_extension("log"))?;
    for _ in 0..RECORDS_PER_RUN {
        log.write_all(BODY.as_bytes())?;
        log.sync_all()?;
    }
    let git = |arguments: &[&str]| -> Outcome<String> {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(checkout)
            .env("GIT_DIR", git_dir)
            .env("GIT_WORK_TREE", checkout);
        command
            .env("GIT_INDEX_FILE", &index)
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        for role in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{role}_NAME"), "x")
                .env(format!("GIT_{role}_EMAIL"), "x@localhost");
        }
        let output = command.output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    git(&["read-tree", base])?;
    git(&["checkout-index", "--all"])?;
    let agents = Command::new("sh")
        .arg("-c")
        .arg("git init -q . && git add -A && git -c user.name=x -c user.email=x@localhost commit -q -m x")
        .current_dir(checkout)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .status()?;
    assert!(agents.success(), "the agent's repository is made");
    std::fs::write(checkout.join("new.txt"), format!("bare {round}\n"))?;
    git(&["add", "--all", "."])?;
    let tree = git(&["write-tree"])?;
    let commit = git(&["commit-tree", &tree, "-p", base, "-m", "feat: a candidate"])?;
    git(&["update-ref", &format!("refs/bare/{round}"), &commit])?;
    Ok(start.elapsed())
}

/// What a loop of eight stories is started with.
pub(crate) fn loop_spec(loop_id: &str, base: &str) -> Outcome<LoopSpec> {
    let story = |number: u32| StorySpec {
        id: format!("s{number}").into(),
        title: format!("Story number {number}"),
        description: "As a user I want it to work.".to_owned(),
        criteria: vec!["It works".to_owned(), "It is tested".to_owned()],
        rank: number,
        depends_on: Vec::new(),
        ..StorySpec::default()
    };
    Ok(LoopSpec {
        loop_id: loop_id.to_owned(),
        project: "project".to_owned(),
        prd_path: "prd.json".to_owned(),
        base: Commit::new(base).map_err(|error| error.to_string())?,
        branch: format!("agent-loop/{loop_id}"),
        stories: (0..8).map(|number| Arc::new(story(number))).collect(),
        implementor: "builder".into(),
        judge: "judge".into(),
        ladder: Vec::new(),
        failover: false,
        max_retries: 2,
        max_iterations: None,
        retry_wait_ms: 60_000,
        budget: None,
        allowance: None,
        flow: kernel::Flow::Legacy,
        reviewer: "".into(),
        prover: "".into(),
        judge_is_chosen: true,
        families: BTreeMap::new(),
        first: None,
        together: kernel::Together::default(),
        settings: "{}".into(),
    })
}

/// The records of a loop in which eight stories pass, the second at its second attempt.
fn played(loop_id: &str) -> Outcome<Vec<Stamped>> {
    let commit =
        |number: usize| Commit::new(&format!("{number:040x}")).map_err(|error| error.to_string());
    let spec = loop_spec(loop_id, commit(0)?.as_str())?;
    let mut records = vec![Stamped {
        at_ms: 0,
        event: Event::LoopStarted {
            spec: Box::new(spec),
        },
    }];
    let mut state = State::begin(&records[0])?;
    while let Some(order) = kernel::decide(&state).into_iter().next() {
        let event = answer(&order, commit(records.len())?).ok_or("an order without an answer")?;
        let record = Stamped {
            at_ms: i64::try_from(records.len())?,
            event,
        };
        state = state.after(&record)?;
        records.push(record);
    }
    Ok(records)
}

fn answer(order: &Order, commit: Commit) -> Option<Event> {
    if let Some(decision) = order.deed.decision() {
        return Some(decision);
    }
    Some(match order.deed.clone() {
        Deed::Prepare { .. } => Event::LoopPrepared,
        Deed::Run(order) => Event::RunEnded {
            outcome: outcome(&order)?,
            run: order.place.run,
            usage: None,
            walls: kernel::Walls::default(),
        },
        Deed::MakeCandidate(order) => Event::CandidateMade {
            story: order.place.run.story,
            attempt: order.place.run.attempt,
            commit,
            notes: Vec::new(),
            ask: None,
        },
        Deed::Integrate {
            story, attempt, to, ..
        } => Event::Integrated {
            story,
            attempt,
            commit: to,
        },
        Deed::Announce { story, .. } => Event::Announced {
            story,
            branch: PublishResult::Done,
            prd: WriteBack::Done,
        },
        Deed::End { reason } => Event::LoopEnded { reason },
        _ => return None,
    })
}

fn outcome(order: &RunOrder) -> Option<RunOutcome> {
    let run = &order.place.run;
    Some(match run.stage {
        Stage::Implement => RunOutcome::Worked {
            learned: Vec::new(),
            proof: None,
        },
        Stage::Check => RunOutcome::Checked {
            passed: true,
            report: "== all green\n".to_owned(),
            facts: None,
        },
        Stage::Judge => RunOutcome::Judged(Verdict {
            pass: run.story != "s1" || run.attempt > 1,
            commit: order.candidate.clone()?,
            reason: "as the criteria say".to_owned(),
            criteria: Vec::new(),
            guidance: Vec::new(),
            obliged: Vec::new(),
        }),
        _ => return None,
    })
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The fastest of several rounds.
pub(crate) fn best<T, E: std::error::Error + 'static>(
    rounds: usize,
    mut action: impl FnMut() -> Result<T, E>,
) -> Outcome<Duration> {
    let mut fastest = Duration::MAX;
    for _ in 0..rounds {
        let start = Instant::now();
        action()?;
        fastest = fastest.min(start.elapsed());
    }
    Ok(fastest)
}
