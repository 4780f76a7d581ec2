//! What prompts say, and what they leave out.

use super::*;
use kernel::{Flag, FlagKind, Mutants, Obligation, ObligationKind};

use crate::context::{Excerpt, Found};

fn story() -> StorySpec {
    StorySpec {
        id: "a".into(),
        title: "Add {{criteria}}".to_owned(),
        description: "Words.".to_owned(),
        criteria: vec!["one".to_owned(), "two".to_owned()],
        rank: 0,
        depends_on: Vec::new(),
        ..StorySpec::default()
    }
}

fn full_context() -> Context {
    let text = |word: &str| vec![word.to_owned()];
    Context {
        base: Commit::new(&"a".repeat(40)).ok(),
        candidate: Commit::new(&"b".repeat(40)).ok(),
        diff: "the diff".to_owned(),
        checks: "the checks".to_owned(),
        feedback: text("too slow"),
        answers: text("blue"),
        tests: text("tests/a.rs"),
        order: Some("they prove nothing".to_owned()),
        test_paths: "tests/".to_owned(),
        failing: text("test_red"),
        obligations: vec![Obligation {
            kind: ObligationKind::OldTestRemoved,
            subject: "test_old".to_owned(),
        }],
        flags: vec![Flag {
            kind: FlagKind::Random,
            place: "src/shelf.ts:3".to_owned(),
            text: "rolls dice".to_owned(),
        }],
        mutants: Some(Mutants {
            tried: 3,
            noticed: 2,
        }),
        review: Some(Review {
            summary: "fine".to_owned(),
            ..Review::default()
        }),
        notes: text("edits CI"),
        patterns: Some("use tabs".to_owned()),
        guides: vec![("AGENTS.md".to_owned(), "be kind".to_owned())],
        learned: text("the cache is cold"),
        inventory: text("Cargo.toml"),
        commands: vec![
            ("typecheck".to_owned(), "tsc --noEmit".to_owned()),
            ("test".to_owned(), "npm test".to_owned()),
        ],
        about: Some("Bookshelf: a shelf for books".to_owned()),
        excerpts: vec![Excerpt {
            path: "src/shelf.ts".to_owned(),
            found: Found::Text("export const shelf = 1;".to_owned()),
        }],
        proof: Some(Proof {
            checked: text("an empty shelf"),
            found: text("it fell over"),
            mended: text("it stands"),
            see: text("npm run shelf"),
        }),
        repair: None,
        recheck: false,
        goes_on: false,
    }
}

const STAGES: [Stage; 6] = [
    Stage::Implement,
    Stage::WriteTests,
    Stage::Review,
    Stage::Prove,
    Stage::Judge,
    Stage::Arbitrate,
];

fn asked(stage: Stage, context: &Context) -> String {
    prompt(stage, &story(), context, &BTreeMap::new()).text
}

#[test]
fn each_role_is_told_what_it_needs() {
    for (stage, parts) in [
        (
            Stage::Implement,
            vec![
                "## Story a: Add {{criteria}}\n",
                "- one\n- two\n",
                "### Attempt 1 was rejected\n\ntoo slow",
                "## Codebase Patterns\n\nuse tabs",
                "be kind",
                "- the cache is cold",
                "- Cargo.toml",
                "blue",
                "- tests/a.rs",
            ],
        ),
        (
            Stage::WriteTests,
            vec!["- one\n- two\n", "they prove nothing", "(tests/)"],
        ),
        (Stage::Review, vec!["the diff", "the checks", "edits CI"]),
        (Stage::Prove, vec!["the diff", "too slow"]),
        (
            Stage::Judge,
            vec![
                "the diff",
                "the checks",
                "## Obligations\n\n",
                "\n- O1 the older test `test_old` is gone\n",
                "\"obliged\": [{\"id\": \"O1\", ",
                "## Flags\n\n",
                "- depends on chance, `src/shelf.ts:3`: rolls dice\n",
                "Strength of proof: 2 of 3 small faults",
                "Name every criterion in `criteria`",
                "fine",
                "edits CI",
            ],
        ),
        (
            Stage::Arbitrate,
            vec!["- test_red", "the checks", "- one\n- two\n"],
        ),
    ] {
        let prompt = asked(stage, &full_context());
        for part in parts {
            assert!(
                prompt.contains(part),
                "{}: {part} in {prompt}",
                stage.word()
            );
        }
    }
}

#[test]
fn i07_nobody_who_writes_tests_is_told_of_a_candidate() {
    let prompt = asked(Stage::WriteTests, &full_context());
    for part in [
        "the diff",
        &"b".repeat(40),
        "the checks",
        "too slow",
        "fine",
        "test_red",
    ] {
        assert!(!prompt.contains(part), "{part} in {prompt}");
    }
}

#[test]
fn every_placeholder_of_a_template_is_filled() {
    let mut plain = story();
    plain.title = "T".to_owned();
    for stage in STAGES {
        for context in [
            Context::default(),
            full_context(),
            Context {
                recheck: true,
                ..full_context()
            },
        ] {
            let prompt = prompt(stage, &plain, &context, &BTreeMap::new()).text;
            assert!(!prompt.contains("{{"), "{prompt}");
        }
    }
}

#[test]
fn test_and_typecheck_commands_are_in_every_prompt() {
    let own = BTreeMap::from([(
        "implementor".to_owned(),
        "Do {{id}}: {{criteria}} {{feedback}}".to_owned(),
    )]);
    for stage in STAGES {
        for (context, templates) in [
            (full_context(), &BTreeMap::new()),
            (full_context(), &own),
            (
                Context {
                    recheck: true,
                    ..full_context()
                },
                &own,
            ),
            (
                Context {
                    goes_on: true,
                    ..full_context()
                },
                &own,
            ),
        ] {
            let made = prompt(stage, &story(), &context, templates).text;
            for part in ["- typecheck: `tsc --noEmit`", "- test: `npm test`"] {
                assert!(made.contains(part), "{}: {part} in {made}", stage.word());
            }
        }
    }
}

#[test]
fn what_the_author_says_of_a_story_is_in_every_prompt() {
    let story = StorySpec {
        notes: "Mind the cache.".to_owned(),
        group: Some("Phase 2".to_owned()),
        files: vec!["src/shelf.ts".to_owned()],
        commands: vec![kernel::StoryCommand {
            shows: "it builds".to_owned(),
            command: "pnpm build".to_owned(),
        }],
        ..story()
    };
    for stage in STAGES {
        for recheck in [false, true] {
            let context = Context {
                recheck,
                ..full_context()
            };
            let made = prompt(stage, &story, &context, &BTreeMap::new()).text;
            for part in [
                "Mind the cache.",
                "Part of: Phase 2",
                "- `src/shelf.ts`",
                "- `pnpm build` (shows: it builds)",
                "Bookshelf: a shelf for books",
            ] {
                assert!(made.contains(part), "{}: {part} in {made}", stage.word());
            }
        }
    }
}

#[test]
fn whoever_works_on_files_sees_excerpts_of_those_that_the_story_names() {
    for (stage, sees) in [
        (Stage::Implement, true),
        (Stage::WriteTests, true),
        (Stage::Prove, true),
        (Stage::Judge, false),
    ] {
        let made = asked(stage, &full_context());
        assert_eq!(
            made.contains("### `src/shelf.ts`\n\n````\nexport const shelf = 1;\n````"),
            sees,
            "{}: {made}",
            stage.word()
        );
    }
}

#[test]
fn a_long_guide_is_shortened_and_short_sections_stay_whole() {
    let mut context = full_context();
    let guide = "be kind to the next reader\n".repeat(232);
    assert!(guide.len() > 6_200, "{}", guide.len());
    context.guides = vec![("CLAUDE.md".to_owned(), guide.clone())];
    let made = prompt(Stage::Implement, &story(), &context, &BTreeMap::new());
    assert!(made.text.contains(&guide[..5_900]));
    assert!(made.text.contains("more bytes]"));
    assert!(made.text.contains("## Files to know\n\n- Cargo.toml\n"));
    assert!(made.cut.iter().all(|cut| cut.starts_with("guides")));
    // A story that takes all the room itself still leaves everybody a beginning.
    let mut long = story();
    long.description = "d".repeat(15_000);
    let made = prompt(Stage::Implement, &long, &context, &BTreeMap::new());
    for part in ["be kind", "use tabs", "- the cache is cold", "- Cargo.toml"] {
        assert!(made.text.contains(part), "{part} in {}", made.text);
    }
}

#[test]
fn the_judge_reads_the_provers_proof_of_work() {
    let judged = asked(Stage::Judge, &full_context());
    let expected = "## What the prover says of its work\n\n### Checked\n\n- an empty shelf\n\n### Found\n\n\
             - it fell over\n\n### Mended\n\n- it stands\n\n### How to see it\n\n- npm run shelf\n";
    assert!(judged.contains(expected), "{judged}");
    let asked_for = asked(Stage::Prove, &full_context());
    assert!(asked_for.contains(r#"{"checked": ["#), "{asked_for}");
    // A project's own prompt may be older than proofs of work.
    let own = BTreeMap::from([
        (
            "prove".to_owned(),
            "{{id}} {{criteria}} {{candidate}}".to_owned(),
        ),
        (
            "judge".to_owned(),
            "{{id}} {{criteria}} {{candidate}} {{diff}} {{obliged}}".to_owned(),
        ),
    ]);
    let of = |stage| prompt(stage, &story(), &full_context(), &own).text;
    assert!(of(Stage::Prove).contains(r#"{"checked": ["#));
    let judged = of(Stage::Judge);
    for part in [
        expected,
        "- O1 the older test",
        "## Flags",
        "Strength",
        "Name every",
    ] {
        assert!(judged.contains(part), "{part} in {judged}");
    }
}

#[test]
fn whoever_answers_again_is_told_why() {
    let context = Context {
        repair: Some("it leaves out `one`".to_owned()),
        ..full_context()
    };
    let made = asked(Stage::Judge, &context);
    assert!(
        made.ends_with("\nYour last answer could not be used: it leaves out `one`\n"),
        "{made}"
    );
}

#[test]
fn the_last_judgment_is_told_whole_and_earlier_ones_by_their_beginning() {
    let judgment = |word: &str| format!("{}the end of {word}", format!("{word} ").repeat(1_500));
    let context = Context {
        feedback: vec![judgment("first"), judgment("second")],
        ..Context::default()
    };
    let made = asked(Stage::Implement, &context);
    assert!(made.contains("### Attempt 1 was rejected\n\nfirst "));
    assert!(!made.contains("the end of first"));
    assert!(made.contains(&judgment("second")), "whole");
}

#[test]
fn the_core_always_fits_and_has_bounds_of_its_own() {
    let mut long = story();
    long.description = "d".repeat(100_000);
    let context = Context {
        feedback: vec!["f".repeat(50_000); 9],
        ..Context::default()
    };
    let made = prompt(Stage::Implement, &long, &context, &BTreeMap::new());
    assert!(
        made.text.contains("- one\n- two\n") && made.text.contains("### Attempt 9 was rejected")
    );
    assert!(
        !made.text.contains("### Attempt 6 was rejected"),
        "the last three are enough"
    );
    assert!(made.text.len() < 80 * 1024, "{}", made.text.len());
}

#[test]
fn a_projects_own_template_is_strict() {
    for (name, text, fault) in [
        ("implementor", "{{id}} {{criteria}} {{feedback}}", None),
        (
            "implementor",
            "{{id}} {{criteria}}",
            Some("`{{feedback}}` is missing"),
        ),
        (
            "implementor",
            "{{id}} {{criteria}} {{feedback}} {{diff}}",
            Some("is no placeholder of it"),
        ),
        ("planner", "", Some("there is no prompt `planner`")),
    ] {
        let found = check_template(name, text).err();
        assert_eq!(found.is_some(), fault.is_some(), "{name}: {text}");
        assert!(
            found
                .unwrap_or_default()
                .contains(fault.unwrap_or_default()),
            "{name}: {text}"
        );
    }
    let own = BTreeMap::from([(
        "implementor".to_owned(),
        "Do {{id}}: {{criteria}} {{feedback}}".to_owned(),
    )]);
    let made = prompt(Stage::Implement, &story(), &Context::default(), &own);
    assert_eq!(made.text, "Do a: - one\n- two \n\n");
}

/// A checkout has one commit of its own: whoever looks for an id of the loop there finds nothing.
#[test]
fn whoever_sees_ids_is_told_that_git_in_the_checkout_does_not_know_them() {
    for stage in STAGES {
        let told = asked(stage, &full_context());
        let has_ids = told.contains(&format!("(base {})", "a".repeat(40)));
        let is_told = told.contains("knows neither id: the\ndiff is the whole change");
        assert_eq!(has_ids, is_told, "{}", stage.word());
    }
}
