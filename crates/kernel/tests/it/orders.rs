//! Orders are complete: each can be written to a file, read by somebody else, and carried out with
//! nothing but what it holds.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{
    Commit, Deed, Event, Flow, InterruptCause, Order, Review, Rewrite, RunOrder, RunOutcome,
    RunUsage, Stage,
};

use crate::support::{
    Played, checked, commit, ended, facts, failed, green, limit, red, reviewed, running, spec,
    story, strings, unfit, unproven, worked, written,
};

const FLOWS: [Flow; 6] = [
    Flow::Quartet,
    Flow::Tdd,
    Flow::Proof,
    Flow::Solo,
    Flow::Judged,
    Flow::Legacy,
];

/// What an order asks for, with the stage where that makes a difference.
fn kind(order: &Order) -> String {
    match &order.deed {
        Deed::Prepare { .. } => "prepare".to_owned(),
        Deed::Plan(plan) if plan.is_recheck => "recheck".to_owned(),
        Deed::Plan(_) => "plan".to_owned(),
        Deed::StartRun { .. } => "start".to_owned(),
        Deed::Run(order) => format!("run {}", order.place.run.stage.word()),
        Deed::StopRun(_) => "stop".to_owned(),
        Deed::Wait(_) => "wait".to_owned(),
        Deed::MakeTests(_) => "make-tests".to_owned(),
        Deed::MakeCandidate(order) => format!("make-candidate {}", order.place.run.stage.word()),
        Deed::MakeAccepted(_) => "make-accepted".to_owned(),
        Deed::Restack(_) => "restack".to_owned(),
        Deed::Integrate { .. } => "integrate".to_owned(),
        Deed::Retract(_) => "retract".to_owned(),
        Deed::Announce { .. } => "announce".to_owned(),
        Deed::Skip { .. } => "skip".to_owned(),
        Deed::Block { .. } => "block".to_owned(),
        Deed::Publish(_) => "publish".to_owned(),
        Deed::End { .. } => "end".to_owned(),
    }
}

/// Looks at everything that is owed: each order survives JSON, and its key is its own.
fn look(owed: &[Order], seen: &mut BTreeSet<String>) {
    let mut keys = BTreeSet::new();
    for order in owed {
        let text = serde_json::to_string(order).expect("JSON");
        let read: Order = serde_json::from_str(&text).expect("read");
        assert_eq!(read, *order, "{text}");
        assert_eq!(
            (
                order.loop_id.as_str(),
                order.project.as_str(),
                &*order.settings
            ),
            ("L", "project", "the engine's own")
        );
        assert!(keys.insert(order.key()), "two orders are {}", order.key());
        seen.insert(kind(order));
    }
}

/// How the runs of an eventful loop end: story `a` meets about everything and passes, `c` never
/// gets anywhere.
fn eventful(played: &Played, run: &kernel::RunKey, ends: u32) -> RunOutcome {
    let gave_way = || facts(|facts| facts.obliged = strings(&["old"]));
    match (run.story.as_str(), run.stage, ends) {
        (_, Stage::Baseline, _) => checked(true),
        ("c", Stage::Implement, _) => failed("gave up"),
        ("a", Stage::Implement, 0) => limit(Some(played.clock_ms + 60_000)),
        (_, Stage::Implement | Stage::Prove, _) => RunOutcome::Worked {
            learned: vec!["a lesson".to_owned()],
            proof: (run.stage == Stage::Prove).then(Box::default),
        },
        (_, Stage::WriteTests, _) => written(),
        ("a", Stage::Check, 0 | 1) | ("a", Stage::Confirm, 0) => red(&["t"]),
        ("a", Stage::Check, 2) => unproven(),
        ("a", Stage::Check, 3) if run.attempt < 4 => facts(|facts| facts.warm = true),
        (_, Stage::Check, _) if run.attempt > 4 => checked(false),
        (_, Stage::Check, _) if played.state.attempt(&run.story).is_some_and(judged) => gave_way(),
        (_, Stage::Check | Stage::Confirm, _) => green(),
        (_, Stage::Review, _) => RunOutcome::Reviewed(Review {
            summary: "fine".to_owned(),
            ..Review::default()
        }),
        (_, Stage::Arbitrate, _) => RunOutcome::Ruled {
            fresh_tests: true,
            reason: "no criterion says so".to_owned(),
        },
        (_, Stage::Judge, _) => {
            let mut verdict = played.verdict_on(&run.story, true);
            verdict.obliged = vec![kernel::Obliged {
                test: "old".to_owned(),
                criterion: "it works".to_owned(),
                ..kernel::Obliged::default()
            }];
            RunOutcome::Judged(verdict)
        }
    }
}

fn judged(attempt: &kernel::Attempt) -> bool {
    attempt.flow.has(Stage::Judge)
}

fn eventful_spec(flow: Flow) -> kernel::LoopSpec {
    let mut spec = spec(vec![
        story("c", 0, &[]),
        story("a", 1, &[]),
        story("b", 2, &["c"]),
    ]);
    spec.flow = flow;
    spec.failover = true;
    spec.max_retries = 3;
    spec
}

/// Plays an eventful loop to its end, and shows everything that is owed on the way.
fn play(flow: Flow, mut look: impl FnMut(&[Order])) -> Played {
    let mut played = Played::start(eventful_spec(flow));
    let mut ends = BTreeMap::new();
    for _ in 0..300 {
        let owed = played.owed();
        look(&owed);
        let starts = owed.iter().find(|order| order.deed.starts().is_some());
        let Some(next) = starts.or(owed.first()) else {
            break;
        };
        let Some(run) = running(next) else {
            played.carry_out(next);
            continue;
        };
        let before = ends.entry((run.story.clone(), run.stage)).or_default();
        let outcome = eventful(&played, run, *before);
        *before += 1;
        played.record(ended(run.clone(), outcome));
    }
    assert!(played.state.ended().is_some(), "{flow:?}");
    played
}

#[test]
fn every_kind_of_order_is_the_same_after_it_was_written_and_read() {
    let mut seen = BTreeSet::new();
    for flow in FLOWS {
        let played = play(flow, |owed| look(owed, &mut seen));
        let has_passed = |id: &str| {
            played
                .state
                .story(id)
                .is_some_and(kernel::StoryProgress::has_passed)
        };
        assert!(has_passed("a"), "{flow:?}: {:?}", played.state.story("a"));
        assert!(!has_passed("c") && !has_passed("b"), "{flow:?}");
        // A loop that is cancelled stops what runs.
        let mut played = Played::start(eventful_spec(flow));
        played.go();
        played.record(Event::CancelRequested {
            reason: "enough".to_owned(),
        });
        look(&played.owed(), &mut seen);
    }
    let expected = [
        "announce",
        "block",
        "end",
        "integrate",
        "make-candidate implement",
        "make-candidate prove",
        "make-tests",
        "plan",
        "prepare",
        "recheck",
        "retract",
        "run arbitrate",
        "run baseline",
        "run check",
        "run confirm",
        "run implement",
        "run judge",
        "run prove",
        "run review",
        "run write-tests",
        "skip",
        "start",
        "stop",
        "wait",
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
}

/// The commits of the loops below, by name.
fn name(commit_: &Commit) -> &'static str {
    let names = [
        ('a', "base"),
        ('1', "candidate 1"),
        ('2', "candidate 2"),
        ('3', "candidate 3"),
        ('4', "candidate 4"),
        ('b', "tests 1"),
        ('c', "tests 2"),
        ('d', "tests 3"),
    ];
    let found = names.iter().find(|(letter, _)| commit(*letter) == *commit_);
    found.map_or("?", |(_, name)| name)
}

/// What a run order carries, in one line: whatever is empty is left out.
fn carries(order: &RunOrder) -> String {
    let list = |name: &str, words: &[String]| {
        let is_there = !words.is_empty();
        is_there.then(|| format!("{name} {}", words.join("+")))
    };
    let tests = order.tests.as_ref().and_then(|tests| tests.commit.as_ref());
    let rewrite = order.rewrite.as_ref().map(|rewrite| match rewrite {
        Rewrite::Repair(why) => format!("repair: {why}"),
        Rewrite::Better(why) => format!("better: {why}"),
        Rewrite::Fresh(why) => format!("fresh: {why}"),
    });
    let resume = order.resume.as_ref();
    let owes = order.told.obligations.iter();
    let owes: Vec<String> = owes.map(kernel::Obligation::words).collect();
    let flags = order.told.flags.iter();
    let flags: Vec<String> = flags.map(|flag| flag.place.clone()).collect();
    let parts = [
        Some(format!("on {}", name(&order.checkout))),
        order
            .candidate
            .as_ref()
            .map(|commit| format!("about {}", name(commit))),
        tests.map(|commit| format!("with {}", name(commit))),
        rewrite,
        resume.map(|one| format!("resumes {} of try {}", one.session, one.checkout_try)),
        list("notes", &order.told.notes),
        list("checks", &strings(&[order.told.checks.as_str()])).filter(|one| one != "checks "),
        list("failing", &order.told.failing),
        list("owes", &owes),
        list("flags", &flags),
        order
            .told
            .mutants
            .map(|mutants| format!("noticed {} of {}", mutants.noticed, mutants.tried)),
        order
            .told
            .review
            .as_ref()
            .map(|review| format!("review {}", review.summary)),
        list("feedback", &order.told.feedback),
    ];
    let run = &order.place.run;
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let who = order.agent.as_deref().unwrap_or("nobody");
    format!(
        "{} {}.{} by {who}: {}",
        run.stage.word(),
        run.attempt,
        run.try_number,
        parts.join(", ")
    )
}

/// One loop of one story, with named commits and one line for every run that is started.
struct Table {
    played: Played,
    lines: Vec<String>,
}

impl Table {
    fn of(flow: Flow) -> Self {
        let mut loop_spec = spec(vec![story("a", 0, &[])]);
        loop_spec.flow = flow;
        Self {
            played: Played::start(loop_spec),
            lines: Vec::new(),
        }
    }

    /// A run begins, which is noted, and ends.
    fn run(&mut self, stage: Stage, outcome: RunOutcome) {
        let order = self.played.run_order(stage);
        self.lines.push(carries(&order));
        self.played.record(ended(order.place.run, outcome));
    }

    fn interrupt(&mut self, stage: Stage) {
        let order = self.played.run_order(stage);
        self.lines.push(carries(&order));
        self.played.record(Event::RunEnded {
            run: order.place.run,
            outcome: RunOutcome::interrupted(InterruptCause::KeeperLost, "lost"),
            usage: Some(RunUsage {
                session: Some("s".to_owned()),
                resumable: true,
                ..RunUsage::default()
            }),
            walls: kernel::Walls::default(),
        });
    }

    /// The tests become a commit.
    fn tests(&mut self, letter: char) {
        let attempt = self.attempt();
        self.played.record(Event::TestsMade {
            story: "a".into(),
            attempt,
            commit: Some(commit(letter)),
            notes: strings(&["dropped"]),
        });
    }

    /// The work becomes a candidate.
    fn candidate(&mut self, letter: char) {
        let attempt = self.attempt();
        self.played.record(Event::CandidateMade {
            story: "a".into(),
            attempt,
            commit: commit(letter),
            notes: strings(&["made"]),
            ask: None,
        });
    }

    fn attempt(&self) -> u32 {
        self.played.state.attempt("a").expect("an attempt").number
    }

    fn judge(&mut self) {
        self.played.start_stage(None, Stage::Judge);
        let verdict = self.played.verdict_on("a", false);
        self.run(Stage::Judge, RunOutcome::Judged(verdict));
    }
}

fn gave_way() -> RunOutcome {
    facts(|facts| {
        facts.obligations = vec![kernel::Obligation {
            kind: kernel::ObligationKind::OldTestRemoved,
            subject: "old".to_owned(),
        }];
        facts.flags = vec![kernel::Flag {
            kind: kernel::FlagKind::Random,
            place: "src/a.rs:3".to_owned(),
            text: "rand()".to_owned(),
        }];
        facts.mutants = Some(kernel::Mutants {
            tried: 3,
            noticed: 2,
        });
    })
}

/// What the orders of those who see the results carry of it.
const OWES: &str = "owes the older test `old` is gone, flags src/a.rs:3, noticed 2 of 3";

fn a_quartet() -> Vec<String> {
    let mut table = Table::of(Flow::Quartet);
    table.run(Stage::Baseline, checked(true));
    table.interrupt(Stage::Implement);
    table.run(Stage::Implement, worked());
    table.run(Stage::WriteTests, written());
    table.tests('b');
    table.candidate('1');
    table.run(Stage::Check, red(&["t"]));
    table.run(Stage::Implement, worked());
    table.candidate('2');
    table.run(Stage::Check, red(&["t"]));
    let ruling = RunOutcome::Ruled {
        fresh_tests: true,
        reason: "unasked".to_owned(),
    };
    table.run(Stage::Arbitrate, ruling);
    table.interrupt(Stage::WriteTests);
    table.run(Stage::WriteTests, written());
    table.tests('c');
    table.candidate('3');
    table.run(Stage::Check, unfit());
    table.run(Stage::WriteTests, written());
    table.tests('d');
    table.candidate('4');
    table.run(Stage::Check, gave_way());
    let review = Review {
        summary: "fine".to_owned(),
        ..Review::default()
    };
    table.run(Stage::Review, RunOutcome::Reviewed(review));
    table.judge();
    table.lines
}

fn a_tdd() -> Vec<String> {
    let mut table = Table::of(Flow::Tdd);
    table.run(Stage::Baseline, checked(true));
    table.run(Stage::WriteTests, written());
    table.tests('b');
    table.run(Stage::Implement, worked());
    table.candidate('1');
    table.run(Stage::Check, unproven());
    table.run(Stage::WriteTests, written());
    table.tests('c');
    table.candidate('2');
    table.run(Stage::Check, green());
    table.run(Stage::Review, reviewed());
    table.judge();
    table.run(Stage::Implement, worked());
    table.lines
}

fn a_proof() -> Vec<String> {
    let mut table = Table::of(Flow::Proof);
    table.run(Stage::Baseline, checked(true));
    table.run(Stage::Implement, worked());
    table.candidate('1');
    table.interrupt(Stage::Prove);
    table.run(Stage::Prove, worked());
    table.candidate('2');
    table.run(Stage::Check, gave_way());
    table.judge();
    table.lines
}

fn a_short(flow: Flow) -> Vec<String> {
    let mut table = Table::of(flow);
    if flow.has(Stage::Baseline) {
        table.run(Stage::Baseline, checked(true));
    }
    table.run(Stage::Implement, worked());
    table.candidate('1');
    table.run(Stage::Check, checked(true));
    if flow.has(Stage::Judge) {
        table.judge();
    }
    table.lines
}

#[test]
fn a_run_order_carries_what_its_stage_needs_and_no_more() {
    let quartet = [
        "baseline 1.1 by nobody: on base",
        "implement 1.1 by codex: on base",
        "implement 1.2 by codex: on base, resumes s of try 1",
        "write-tests 1.1 by rev: on base",
        "check 1.1 by nobody: on candidate 1, about candidate 1, with tests 1, notes made+dropped",
        "implement 2.1 by claude: on base, with tests 1, feedback for the implementor",
        "check 2.1 by nobody: on candidate 2, about candidate 2, with tests 1, notes made+dropped, \
         feedback for the implementor",
        "arbitrate 2.1 by judge: on tests 1, about candidate 2, with tests 1, notes made, \
         checks the report, failing t, feedback for the implementor",
        "write-tests 2.1 by rev: on base, with tests 1, fresh: unasked",
        "write-tests 2.2 by rev: on base, with tests 1, fresh: unasked, resumes s of try 1",
        "check 2.2 by nobody: on candidate 3, about candidate 3, with tests 2, notes made+dropped, \
         feedback for the implementor",
        "write-tests 2.3 by rev: on tests 2, with tests 2, repair: for the writer",
        "check 2.3 by nobody: on candidate 4, about candidate 4, with tests 3, notes made+dropped, \
         feedback for the implementor",
        "review 2.1 by rev: on candidate 4, about candidate 4, with tests 3, notes made+dropped, \
         checks the report, OWES, feedback for the implementor",
        "judge 2.1 by judge: on candidate 4, about candidate 4, with tests 3, notes made+dropped, \
         checks the report, OWES, review fine, feedback for the implementor",
    ];
    assert_eq!(a_quartet(), quartet.map(|line| line.replace("OWES", OWES)));
    let tdd = [
        "baseline 1.1 by nobody: on base",
        "write-tests 1.1 by rev: on base",
        "implement 1.1 by codex: on tests 1, with tests 1",
        "check 1.1 by nobody: on candidate 1, about candidate 1, with tests 1, notes made+dropped",
        "write-tests 1.2 by rev: on tests 1, with tests 1, better: for the writer",
        "check 1.2 by nobody: on candidate 2, about candidate 2, with tests 2, notes made+dropped",
        "review 1.1 by rev: on candidate 2, about candidate 2, with tests 2, notes made+dropped, \
         checks the report",
        "judge 1.1 by judge: on candidate 2, about candidate 2, with tests 2, notes made+dropped, \
         checks the report, review ",
        "implement 2.1 by claude: on tests 2, with tests 2, \
         feedback because\nnot met: it works (seen)\ndo: try harder",
    ];
    assert_eq!(a_tdd(), tdd);
    let proof = [
        "baseline 1.1 by nobody: on base",
        "implement 1.1 by codex: on base",
        "prove 1.1 by prove: on candidate 1, about candidate 1, notes made",
        "prove 1.2 by prove: on candidate 1, about candidate 1, resumes s of try 1, notes made",
        "check 1.1 by nobody: on candidate 2, about candidate 2, notes made",
        "judge 1.1 by judge: on candidate 2, about candidate 2, notes made, checks the report, \
         OWES",
    ];
    assert_eq!(a_proof(), proof.map(|line| line.replace("OWES", OWES)));
    let baseline = "baseline 1.1 by nobody: on base";
    let judge = "judge 1.1 by judge: on candidate 1, about candidate 1, notes made, checks green";
    for (flow, first, last) in [
        (Flow::Solo, Some(baseline), None),
        (Flow::Judged, Some(baseline), Some(judge)),
        (Flow::Legacy, None, Some(judge)),
    ] {
        let work = [
            "implement 1.1 by codex: on base",
            "check 1.1 by nobody: on candidate 1, about candidate 1, notes made",
        ];
        let expected: Vec<&str> = first.into_iter().chain(work).chain(last).collect();
        assert_eq!(a_short(flow), expected, "{flow:?}");
    }
}

/// Whatever happened before: whoever writes tests is told nothing of a candidate.
#[test]
fn i07_a_write_tests_order_carries_nothing_of_a_candidate() {
    let mut n_orders = 0;
    let mut look = |order: &RunOrder| {
        n_orders += 1;
        let told = &order.told;
        assert_eq!((&order.candidate, &told.review), (&None, &None));
        assert!(told.notes.is_empty() && told.checks.is_empty(), "{told:?}");
        assert!(
            told.failing.is_empty() && told.obligations.is_empty() && told.flags.is_empty(),
            "{told:?}"
        );
        let tests = order.tests.as_ref().and_then(|tests| tests.commit.as_ref());
        let is_clean = order.checkout == order.base || Some(&order.checkout) == tests;
        assert!(is_clean, "{order:?}");
    };
    for flow in [Flow::Quartet, Flow::Tdd] {
        play(flow, |owed| {
            for order in owed {
                match &order.deed {
                    Deed::Run(order) if order.place.run.stage == Stage::WriteTests => look(order),
                    _ => {}
                }
            }
        });
    }
    assert!(n_orders >= 6, "{n_orders} orders were seen");
}

/// A stage whose session outgrew the model has one fresh session; the next overflow is the story's
/// own size. So the stage remembers, whatever else happens in the attempt.
#[test]
fn an_outgrown_session_is_remembered_by_its_stage_over_tries_and_rewrites() {
    let outgrown = || RunOutcome::interrupted(InterruptCause::Outgrown, "too long");
    let lost = || RunOutcome::interrupted(InterruptCause::SessionLost, "lost");
    let mut loop_spec = spec(vec![story("a", 0, &[])]);
    loop_spec.flow = Flow::Quartet;
    let mut played = Played::start(loop_spec);
    played.end_stage(Stage::Baseline, checked(true));
    let mut seen = Vec::new();
    let mut run = |played: &mut Played, stage, outcome| {
        let order = played.run_order(stage);
        seen.push((stage, order.place.run.try_number, order.has_outgrown));
        played.record(ended(order.place.run, outcome));
    };
    run(&mut played, Stage::WriteTests, lost());
    run(&mut played, Stage::WriteTests, outgrown());
    run(&mut played, Stage::WriteTests, lost());
    run(&mut played, Stage::WriteTests, written());
    run(&mut played, Stage::Implement, worked());
    run(&mut played, Stage::Check, unfit());
    run(&mut played, Stage::WriteTests, written());
    run(&mut played, Stage::Check, red(&["t"]));
    // The next attempt begins anew.
    run(&mut played, Stage::Implement, worked());
    assert_eq!(
        seen,
        [
            (Stage::WriteTests, 1, false),
            (Stage::WriteTests, 2, false),
            (Stage::WriteTests, 3, true),
            (Stage::WriteTests, 4, true),
            (Stage::Implement, 1, false),
            (Stage::Check, 1, false),
            (Stage::WriteTests, 5, true),
            (Stage::Check, 2, false),
            (Stage::Implement, 1, false),
        ]
    );
}

#[test]
fn an_order_says_whether_the_try_before_met_a_fault_or_gave_a_bad_answer() {
    let mut played = Played::start(spec(vec![story("a", 0, &[])]));
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::Check, green());
    for (outcome, expected) in [
        (crate::support::fault(None), (false, false)),
        (crate::support::bad_answer("prose"), (true, false)),
        (crate::support::bad_answer("prose"), (true, true)),
    ] {
        let order = played.run_order(Stage::Judge);
        assert_eq!(
            (order.faults > 0, order.told.bad_answer.is_some()),
            expected
        );
        played.record(ended(order.place.run, outcome));
    }
    assert_eq!(played.owed_words(), ["plan a attempt 2 with claude"]);
}

/// A recheck judges the branch as it is, with the story's own tests.
#[test]
fn a_recheck_order_is_about_the_head() {
    let mut loop_spec = spec(vec![story("a", 0, &[]), story("b", 1, &[])]);
    loop_spec.flow = Flow::Quartet;
    loop_spec.max_retries = 0;
    let mut played = Played::start(loop_spec);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::WriteTests, written());
    played.end_stage(Stage::Check, red(&["t"]));
    played.settle();
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::WriteTests, written());
    played.end_stage(Stage::Check, green());
    played.end_stage(Stage::Review, reviewed());
    let verdict = played.verdict(true);
    played.end_stage(Stage::Judge, RunOutcome::Judged(verdict));
    played.settle();
    let order = played.run_order(Stage::Check);
    let head = played.state.head().clone();
    assert_eq!(
        (order.place.run.story.as_str(), order.is_recheck),
        ("a", true)
    );
    assert_eq!(
        (&order.checkout, order.candidate.as_ref()),
        (&head, Some(&head))
    );
    assert_eq!(order.tests, played.state.story("a").expect("a").tests);
    assert!(order.tests.is_some());
    // Red there is no dispute about the tests, and the branch is nobody's rejected work.
    let rejected = played.state.story("a").expect("a").rejected.clone();
    played.end_stage(Stage::Check, red(&["t"]));
    assert_eq!(played.owed_words(), ["skip a"]);
    assert_eq!(played.state.story("a").expect("a").rejected, rejected);
}

/// What makes a commit needs to know where the work lies, what stood before, and what was rejected.
#[test]
fn an_order_to_make_a_commit_carries_where_the_work_lies() {
    let mut table = Table::of(Flow::Quartet);
    table.run(Stage::Baseline, checked(true));
    table.run(Stage::Implement, worked());
    table.run(Stage::WriteTests, written());
    table.tests('b');
    table.candidate('1');
    table.played.clock_ms = 33;
    table.run(Stage::Check, red(&["t"]));
    table.interrupt(Stage::Implement);
    table.played.clock_ms = 77;
    table.run(Stage::Implement, worked());
    let owed = table.played.owed();
    let Deed::MakeCandidate(order) = &owed[0].deed else {
        panic!("{owed:?}");
    };
    let place = &order.place;
    assert_eq!(
        (
            place.run.attempt,
            place.run.try_number,
            place.checkout_try,
            place.story_number
        ),
        (2, 2, 1, 1)
    );
    assert_eq!(order.rejected, [commit('1')]);
    assert_eq!(
        order.planned_at_ms, 33,
        "the same date however often it is made"
    );
    assert_eq!(
        order.tests.as_ref().and_then(|one| one.commit.clone()),
        Some(commit('b'))
    );
    table.candidate('2');
    table.run(Stage::Check, unfit());
    table.run(Stage::WriteTests, written());
    let owed = table.played.owed();
    let Deed::MakeTests(order) = &owed[0].deed else {
        panic!("{owed:?}");
    };
    assert_eq!(
        order.rewrite,
        Some(Rewrite::Repair("for the writer".to_owned()))
    );
    assert_eq!((order.rewrites, &order.base), (1, &commit('a')));
    assert_eq!(order.planned_at_ms, 33);
    assert_eq!(
        order.before.as_ref().and_then(|one| one.commit.clone()),
        Some(commit('b'))
    );
}

/// Two stories; the first one has landed and taught something, and the second one is owed.
fn after_a_landing() -> (Played, Commit) {
    let mut played = Played::start(spec(vec![story("a", 0, &[]), story("b", 1, &[])]));
    played.clock_ms = 11;
    played.end_run(RunOutcome::Worked {
        learned: strings(&["a lesson"]),
        proof: None,
    });
    played.end_run(checked(true));
    let verdict = played.verdict(true);
    played.end_run(RunOutcome::Judged(verdict));
    played.settle();
    let head = played.state.head().clone();
    (played, head)
}

#[test]
fn a_run_order_tells_what_people_answered_and_what_passed_stories_taught() {
    let (mut played, _) = after_a_landing();
    let question = RunOutcome::NeedsHuman {
        question: "Which colour?".to_owned(),
        free: true,
    };
    played.end_stage(Stage::Implement, question);
    played.answer("blue");
    let order = played.run_order(Stage::Implement);
    assert_eq!(order.told.answers, ["Which colour?\nblue"]);
    assert_eq!(order.told.learned, ["a lesson"]);
    // What an unfinished story taught may be wrong.
    played.end_run(RunOutcome::Worked {
        learned: strings(&["too early"]),
        proof: None,
    });
    let order = played.run_order(Stage::Check);
    assert_eq!(order.told.learned, ["a lesson"]);
}

#[test]
fn a_run_order_names_its_agent_and_the_one_that_the_role_has_by_itself() {
    let mut played = Played::start(spec(vec![story("a", 0, &[])]));
    played.attempt(false);
    let order = played.run_order(Stage::Implement);
    assert_eq!(
        (order.agent, order.role_agent),
        (Some("claude".into()), Some("codex".into()))
    );
    played.end_run(worked());
    let order = played.run_order(Stage::Check);
    assert_eq!((order.agent, order.role_agent), (None, None));
}

#[test]
fn a_stop_order_names_the_run_its_agent_and_its_files() {
    let (mut played, head) = after_a_landing();
    played.record(Event::CancelRequested {
        reason: "enough".to_owned(),
    });
    played.settle();
    assert!(played.state.ended().is_some(), "nothing ran");
    let (mut played, _) = after_a_landing();
    played.end_stage(Stage::Implement, crate::support::interrupted());
    let run = played.start_stage(None, Stage::Implement);
    played.record(Event::CancelRequested {
        reason: "enough".to_owned(),
    });
    let owed = played.owed();
    let [order] = owed.as_slice() else {
        panic!("{owed:?}");
    };
    assert_eq!(order.run(), Some(&run));
    let Deed::StopRun(stop) = &order.deed else {
        panic!("{order:?}");
    };
    let expected = kernel::StopOrder {
        place: kernel::RunPlace {
            run,
            story_number: 2,
            checkout_try: 2,
        },
        row: Flow::Legacy.row(Stage::Implement),
        agent: Some("codex".into()),
        base: head,
        planned_at_ms: 11,
    };
    assert_eq!(**stop, expected);
}

#[test]
fn a_landing_carries_where_the_branch_must_be_and_what_was_published() {
    let (mut played, first) = after_a_landing();
    played.attempt(true);
    let owed = played.owed();
    let second = match &owed[0].deed {
        Deed::Integrate { to, .. } => to.clone(),
        other => panic!("{other:?}"),
    };
    let expected = Deed::Integrate {
        story: "b".into(),
        attempt: 1,
        branch: "agent-loop/L".to_owned(),
        from: first.clone(),
        base: commit('a'),
        to: second.clone(),
    };
    assert_eq!(owed[0].deed, expected);
    played.carry_out(&owed[0]);
    let expected = Deed::Announce {
        story: "b".into(),
        title: "Story b".to_owned(),
        attempts: 1,
        branch: "agent-loop/L".to_owned(),
        published: Some(first),
        to: second,
        prd_path: "prd.json".to_owned(),
        taught: Vec::new(),
    };
    assert_eq!(played.owed()[0].deed, expected);
}
