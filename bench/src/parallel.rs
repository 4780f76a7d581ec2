//! Several disjoint stories at once beside the best that could be: `bench parallel [SECS] [STORIES…]`,
//! with agents that sleep so long (60 by default) and checks of one second, for 2, 4 and 8 stories in
//! `solo` and `quartet`. `bench parallel SECS one-by-one` measures `parallel = 1` instead.
//!
//! In the ideal each run takes its own time, by its keeper's record, and begins at the latest of: its
//! story's runs before it have ended, a slot came free, and for a check in the landing lane the landing
//! before it. Everything else takes nothing. What is demanded is that the ideal takes at least 0.95 of
//! the real time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use home::RunName;
use journal::Journal;
use kernel::{Event, RunKey, Stamped, State};
use sandbox::RunView;

use crate::driven::program;
use crate::talk::{Outcome, say};

const AGENT_SECS: u64 = 60;
const STORIES: [usize; 3] = [2, 4, 8];

/// Checks that run at once.
const CHECK_SLOTS: usize = 2;

const RUNNER: &str = "n=0; code=0\nfor test in tests/*.sh; do n=$((n + 1)); name=$(basename \"$test\" .sh)\n\
    if sh \"$test\" > /dev/null 2>&1; then echo \"ok $n - $name\"; else echo \"not ok $n - $name\"; code=1; fi\ndone\n\
    sleep 1; echo \"1..$n\"; exit $code\n";
const AGENT: &str = r#"cat > /dev/null
sleep SECS
story="$LOOPWRIGHT_STORY_ID"
case "$LOOPWRIGHT_STAGE" in
  implement) echo "echo $story" > "$story.sh" ;;
  write-tests) echo "[ \"\$(sh $story.sh)\" = $story ]" > "tests/$story.sh"
    echo "{\"summary\": \"one\", \"criteria\": [{\"criterion\": \"$story works\", \"tests\": [\"$story\"]}], \"findings\": []}" ;;
  review) echo '{"summary": "seen", "criteria": [], "findings": []}' ;;
  judge) echo "{\"verdict\": \"PASS\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"r\", \"criteria\": [{\"criterion\": \"$story works\", \"pass\": true, \"evidence\": \"seen\"}]}" ;;
esac
"#;

pub(crate) fn run(arguments: &[String]) -> Outcome<()> {
    let (words, numbers): (Vec<&String>, Vec<&String>) = arguments
        .iter()
        .partition(|word| word.parse::<u64>().is_err());
    let mut numbers = numbers.iter().map(|number| number.parse::<u64>());
    let secs = numbers.next().transpose()?.unwrap_or(AGENT_SECS);
    let asked: Vec<u64> = numbers.collect::<Result<_, _>>()?;
    let one_by_one = words.iter().any(|word| *word == "one-by-one");
    let flows: Vec<&str> = ["solo", "quartet"]
        .into_iter()
        .filter(|flow| {
            words
                .iter()
                .all(|word| word == flow || *word == "one-by-one")
        })
        .collect();
    let scratch = tempfile::tempdir()?;
    for flow in flows {
        for n_stories in STORIES {
            if !asked.is_empty() && !asked.contains(&(n_stories as u64)) {
                continue;
            }
            let play = Play {
                n_stories,
                secs,
                flow,
                parallel: if one_by_one { 1 } else { n_stories },
            };
            say(&play.measure(&scratch.path().join(format!("{flow}-{n_stories}")))?);
        }
    }
    Ok(())
}

/// One loop that is measured.
struct Play<'a> {
    n_stories: usize,
    secs: u64,
    flow: &'a str,
    parallel: usize,
}

impl Play<'_> {
    fn measure(&self, folder: &Path) -> Outcome<String> {
        self.project(folder)?;
        self.start(folder)?;
        let home = home::Home::at(folder.join("home"));
        let journal = Journal::open(home.root())?;
        let row = journal.loops()?.pop().ok_or("no loop")?;
        let loaded = home::load(&journal, &row.loop_id)?;
        let first = loaded.records.first().ok_or("no records")?.at_ms;
        let took = seconds(loaded.state.last_at_ms() - first);
        let ideal = Ideal::of(self, &home, &loaded.state, &loaded.records)?;
        let best = seconds(ideal.end_ms);
        let ratio = best / took;
        let form = match self.flow {
            "solo" if self.parallel > 1 => {
                let form = self.secs + 1 + self.n_stories as u64;
                format!(", closed form {form} s plus checkouts")
            }
            _ => String::new(),
        };
        Ok(format!(
            "{:<8} {} stories, {} at once: {took:.1} s, ideal {best:.1} s, ratio {ratio:.3}{form}; load {}",
            self.flow,
            self.n_stories,
            self.parallel,
            load()
        ))
    }

    fn project(&self, folder: &Path) -> Outcome<()> {
        let project = folder.join("project");
        fs::create_dir_all(project.join("tests"))?;
        let story = |number: &usize| {
            format!(
                r#"{{"id":"s{number}","title":"Story {number}","acceptance_criteria":["s{number} works"],"passes":false}}"#
            )
        };
        let stories: Vec<String> = (1..=self.n_stories).map(|number| story(&number)).collect();
        let prd = format!(r#"{{"stories":[{}]}}"#, stories.join(","));
        for (name, text) in [
            ("project/run-tests.sh", RUNNER.to_owned()),
            ("project/tests/old.sh", "true\n".to_owned()),
            ("project/prd.json", prd),
            ("agent.sh", AGENT.replace("SECS", &self.secs.to_string())),
        ] {
            fs::write(folder.join(name), text)?;
        }
        workspace::init_repository(&project, "start")?;
        let roles: String = ["implementor", "reviewer", "judge"]
            .iter()
            .map(|role| format!("[roles.{role}]\nagent = \"any\"\n"))
            .collect();
        let config = format!(
            "[agents.any]\ncommand = [\"sh\", \"{}\"]\n{roles}[checks]\ntest = \"sh run-tests.sh\"\nat_once = {CHECK_SLOTS}\nmutants = 0\n",
            folder.join("agent.sh").display()
        );
        fs::write(project.join("loopwright.toml"), config)?;
        Ok(())
    }

    fn start(&self, folder: &Path) -> Outcome<()> {
        let mut command = Command::new(program()?);
        command.args(["start", "--project", "project", "--prd", "project/prd.json"]);
        command.args(["--foreground", "--json", "--flow", self.flow]);
        command.args(["--parallel", &self.parallel.to_string()]);
        command
            .current_dir(folder)
            .env("HOME", folder)
            .env("LOOPWRIGHT_HOME", folder.join("home"))
            .env("LOOPWRIGHT_SANDBOX_KIND", "host")
            .env(
                "LOOPWRIGHT_WORKER_MAX_AGENTS",
                self.agent_slots().to_string(),
            )
            .env("LOOPWRIGHT_WORKER_MAX_CHECKS", CHECK_SLOTS.to_string());
        let output = command.output()?;
        if output.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&output.stdout).into_owned().into())
    }

    fn agent_slots(&self) -> usize {
        2 * self.n_stories
    }
}

/// When everything would have ended if nothing but the runs themselves took time.
struct Ideal {
    end_ms: i64,
}

impl Ideal {
    fn of(play: &Play<'_>, home: &home::Home, state: &State, records: &[Stamped]) -> Outcome<Self> {
        let mut agents = vec![0_i64; play.agent_slots()];
        let mut checks = vec![0_i64; CHECK_SLOTS];
        // When each run ends, and which have ended so far, by story.
        let mut ends: BTreeMap<RunKey, i64> = BTreeMap::new();
        let mut ended: BTreeMap<String, i64> = BTreeMap::new();
        // A check of a story that stands in the queue is in the lane, behind the landing before it.
        let mut in_lane: BTreeMap<String, bool> = BTreeMap::new();
        let mut landed = 0;
        for record in records {
            match &record.event {
                Event::RunStarted { run } => {
                    let story = run.story.to_string();
                    let mut begins = ended.get(&story).copied().unwrap_or_default();
                    let slots = if run.stage.is_check() {
                        &mut checks
                    } else {
                        &mut agents
                    };
                    let slot = slots.iter_mut().min().ok_or("no slots")?;
                    begins = begins.max(*slot);
                    if in_lane.get(&story) == Some(&true) {
                        begins = begins.max(landed);
                    }
                    let end = begins + duration_ms(home, state, run)?;
                    *slot = end;
                    ends.insert(run.clone(), end);
                }
                Event::RunEnded { run, .. } => {
                    let end = ends.get(run).copied().unwrap_or_default();
                    let so_far = ended.entry(run.story.to_string()).or_default();
                    *so_far = end.max(*so_far);
                }
                Event::Restacked { story, .. } => drop(in_lane.insert(story.to_string(), true)),
                Event::Integrated { story, .. } => {
                    landed = ended
                        .get(&story.to_string())
                        .copied()
                        .unwrap_or_default()
                        .max(landed);
                }
                _ => {}
            }
        }
        let end_ms = ends.values().copied().max().unwrap_or_default();
        Ok(Self { end_ms })
    }
}

/// How long a run took, by its keeper; a run that needed no process took nothing.
fn duration_ms(home: &home::Home, state: &State, run: &RunKey) -> Outcome<i64> {
    let name = RunName::of(state, run);
    let folder = home.run_folder(&state.spec().loop_id, &name);
    match sandbox::look(&folder) {
        Ok(RunView::Ended(exit)) => Ok(i64::try_from(exit.ended_at_ms - exit.started_at_ms)?),
        Ok(_) | Err(_) => Ok(0),
    }
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}

/// What else the machine does.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
