//! A worker that has nothing to do among thousands of ended loops and a few waiting ones: what it
//! costs in processor time and memory, and what looking costs then. The peer of a look is the same
//! program's `--version` in the same run.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use journal::{Journal, NewRecord, Record};
use rustix::process::Pid;
use serde_json::{Value, json};

use crate::driven::{Agent, Place, median, processes_of};
use crate::loops::millis;
use crate::talk::{Outcome, say};

/// Ended loops, unless an argument says otherwise.
const ENDED: u32 = 5_000;
const WAITING: u32 = 20;
/// How far ahead the waits end.
const WAIT: Duration = Duration::from_hours(6);
/// The ended loops are spread over this long: less than loops are kept for.
const HISTORY: Duration = Duration::from_hours(20 * 24);
const SETTLE: Duration = Duration::from_secs(5);
const WATCHED: Duration = Duration::from_secs(30);
/// How often each command is timed, and the time after which three times are enough.
const LOOKS: usize = 20;
const LOOKS_PATIENCE: Duration = Duration::from_secs(30);
/// Linux counts processor time for other programs in hundredths of a second on every machine.
const TICKS_PER_SEC: f64 = 100.0;

/// `bench idle [ENDED] [folders]`; with `folders` each loop also has the folder of a real one.
pub(crate) fn run(arguments: &[String]) -> Outcome<()> {
    let ended = match arguments.first() {
        Some(number) => number.parse()?,
        None => ENDED,
    };
    let with_folders = arguments.get(1).is_some_and(|word| word == "folders");
    let place = Place::new()?;
    let template = Template::record(&place)?;
    let some_loop = template.fill(&place, ended, with_folders)?;
    say(&format!(
        "{}: {ended} ended loops of {} records {}, {WAITING} waiting ones; a journal of {:.0} MB",
        place.program().display(),
        template.records.len(),
        if with_folders {
            "with folders"
        } else {
            "without folders"
        },
        megabytes(fs::metadata(place.path("home/journal.db"))?.len() / 1024)
    ));
    let mut worker = place.serve("home")?;
    let measured = measure(&place, worker.id(), &some_loop);
    let whole = place.ask("home", &["list"]).map(|list| by_status(&list));
    worker.kill()?;
    worker.wait()?;
    place.end_those_of("home")?;
    say(&format!("the loops afterwards: {}", whole?));
    measured
}

/// The records of a real loop that ended, and its folder.
struct Template {
    loop_id: String,
    records: Vec<Record>,
    folder: std::path::PathBuf,
}

impl Template {
    /// Runs one small loop from start to end in a state folder of its own.
    fn record(place: &Place) -> Outcome<Self> {
        place.project("project", Agent::Instant, "README", 3)?;
        let loop_id = place.start("template", "project", &["--foreground"])?;
        place.end_those_of("template")?;
        let home = place.path("template");
        let records = Journal::open(&home)?.read(&loop_id, 0)?;
        Ok(Self {
            folder: home.join("loops").join(&loop_id),
            loop_id,
            records,
        })
    }

    /// Makes the state folder, and returns the id of one of the ended loops.
    fn fill(&self, place: &Place, ended: u32, with_folders: bool) -> Outcome<String> {
        let home = place.path("home");
        let journal = Journal::open(&home)?;
        let until_ms = now_ms()? + i64::try_from(WAIT.as_millis())?;
        let waiting = self.waiting(until_ms)?;
        for number in 0..ended + WAITING {
            let loop_id = self.id(number);
            let (records, age) = if number < ended {
                (&self.records, HISTORY * (ended - number) / ended)
            } else {
                (&waiting, Duration::ZERO)
            };
            self.append(&journal, &loop_id, records, i64::try_from(age.as_millis())?)?;
            if with_folders {
                link_all(&self.folder, &home.join("loops").join(loop_id))?;
            }
        }
        Ok(self.id(ended / 2))
    }

    /// The time in the template's id, and a number in place of chance.
    fn id(&self, number: u32) -> String {
        format!("{}{number:016}", self.loop_id.get(..10).unwrap_or_default())
    }

    /// The same loop at the moment when its implementor has met a limit.
    fn waiting(&self, until_ms: i64) -> Outcome<Vec<Record>> {
        let mut records = Vec::new();
        for record in &self.records {
            records.push(record.clone());
            let body: Value = serde_json::from_str(&record.body)?;
            if record.kind == "run-started" && body["run"]["stage"] == "implement" {
                let outcome = json!({ "outcome": "infrastructure", "why": "usage limit reached", "until_ms": until_ms });
                let body = json!({ "type": "run-ended", "run": body["run"], "outcome": outcome });
                records.push(Record {
                    number: record.number + 1,
                    at_ms: record.at_ms,
                    kind: "run-ended".to_owned(),
                    body: body.to_string(),
                });
                return Ok(records);
            }
        }
        Err("the template has no run of an implementor".into())
    }

    fn append(
        &self,
        journal: &Journal,
        loop_id: &str,
        records: &[Record],
        age_ms: i64,
    ) -> Outcome<()> {
        let bodies: Vec<String> = records
            .iter()
            .map(|record| record.body.replace(&self.loop_id, loop_id))
            .collect();
        let new: Vec<NewRecord<'_>> = records
            .iter()
            .zip(&bodies)
            .map(|(record, body)| NewRecord {
                at_ms: record.at_ms - age_ms,
                kind: &record.kind,
                body,
            })
            .collect();
        journal.append(loop_id, 0, None, &new)?;
        Ok(())
    }
}

/// The same folders, and links to the same files: what a walk over them costs, without their bytes.
fn link_all(from: &Path, to: &Path) -> Outcome<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let there = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            link_all(&entry.path(), &there)?;
        } else {
            fs::hard_link(entry.path(), there)?;
        }
    }
    Ok(())
}

fn measure(place: &Place, worker: u32, some_loop: &str) -> Outcome<()> {
    std::thread::sleep(SETTLE);
    let (before, begun) = (ticks(&processes_of(&place.path("home"))?), Instant::now());
    std::thread::sleep(WATCHED);
    let processes = processes_of(&place.path("home"))?;
    // A helper that ended and that nobody waited for takes its ticks with it.
    let spent = (ticks(&processes) - before).max(0.0);
    let percent = spent / TICKS_PER_SEC / begun.elapsed().as_secs_f64() * 100.0;
    let helpers: Vec<u32> = processes
        .iter()
        .map(|process| process.as_raw_nonzero().get().unsigned_abs())
        .filter(|process| *process != worker)
        .collect();
    let of_helpers: u64 = helpers
        .iter()
        .filter_map(|process| resident(*process))
        .sum();
    let resident = resident(worker).ok_or("the worker has ended")?;
    say(&format!(
        "{:<30}{:>10}{:>12}  holds",
        "", "figure", "demanded"
    ));
    row("processor, % of one core", percent, Some(0.2));
    row("resident memory, MB", megabytes(resident), Some(20.0));
    let n_helpers = helpers.len();
    row(
        &format!("  of {n_helpers} helpers beside it, MB"),
        megabytes(of_helpers),
        None,
    );
    looks(place, some_loop)
}

/// Each command in turns, so that what else the machine does meets all of them.
fn looks(place: &Place, some_loop: &str) -> Outcome<()> {
    let mut commands = [
        ("`--version`, ms", vec!["--version"], None, Vec::new()),
        (
            "`status LOOP`, ms",
            vec!["status", some_loop],
            Some(20.0),
            Vec::new(),
        ),
        ("`status`, ms", vec!["status"], Some(20.0), Vec::new()),
        ("`list`, ms", vec!["list"], Some(50.0), Vec::new()),
    ];
    let begun = Instant::now();
    for round in 0..LOOKS {
        if round >= 3 && begun.elapsed() > LOOKS_PATIENCE {
            break;
        }
        for (name, arguments, _, times) in &mut commands {
            let mut command = place.command("home", arguments);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let begun = Instant::now();
            if !command.status()?.success() {
                return Err(format!("{name} failed").into());
            }
            times.push(millis(begun.elapsed()));
        }
    }
    for (name, _, bound, times) in &commands {
        row(
            &format!("{name}, of {}", times.len()),
            median(times),
            *bound,
        );
    }
    Ok(())
}

fn row(name: &str, figure: f64, bound: Option<f64>) {
    let demanded = bound.map_or(String::new(), |bound| format!("< {bound}"));
    let holds = match bound {
        Some(bound) if figure < bound => "  yes",
        Some(_) => "  NO",
        None => "",
    };
    say(&format!("{name:<30}{figure:>10.2}{demanded:>12}{holds}"));
}

/// How many loops have which status.
fn by_status(list: &Value) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for view in list["loops"].as_array().into_iter().flatten() {
        *counts
            .entry(view["status"].as_str().unwrap_or("unknown"))
            .or_insert(0) += 1;
    }
    let each: Vec<String> = counts
        .iter()
        .map(|(status, count)| format!("{count} {status}"))
        .collect();
    each.join(", ")
}

/// Processor time of these and of their children that they have waited for.
fn ticks(processes: &[Pid]) -> f64 {
    let of_one = |process: &Pid| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name before the last bracket may hold spaces; user time is the 14th field of all.
        let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
        Some(
            fields
                .filter_map(|field| field.parse::<f64>().ok())
                .sum::<f64>(),
        )
    };
    processes.iter().filter_map(of_one).sum()
}

/// Kilobytes of resident memory.
fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1024.0
}

fn now_ms() -> Outcome<i64> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(i64::try_from(since.as_millis())?)
}
