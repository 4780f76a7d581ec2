//! Plans that people really have, and made-up ones of every style: the counts that a person made,
//! and stories ticked one by one: some of each plan in CI, all in the soak.

use std::path::{Path, PathBuf};

use prd::{Diagnostic, Format, Mark, Marked, Options, Reading, Story, StoryState, mark};

use testkit::{is_soak, sample_of};

use crate::support::{assert_reads_as_marked, drawn, read_text};

/// One row of an index: a file, and how many stories, finished stories and dependencies a person
/// counted in it.
struct Row {
    file: String,
    counts: [usize; 3],
    /// The columns that the person was not sure of.
    unsure: String,
}

/// A folder with an index, whose columns are known by their names.
struct Folder(PathBuf);

impl Folder {
    /// The real plans beside the project. Tests that need them say so, and pass if they are missing.
    fn real() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/plans");
        folder.join("index.tsv").exists().then_some(Self(folder))
    }

    fn cases() -> Self {
        Self(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/plans"))
    }

    fn rows(&self) -> Vec<Row> {
        let index = std::fs::read_to_string(self.0.join("index.tsv")).expect("an index");
        let mut lines = index
            .lines()
            .map(|line| line.split('\t').collect::<Vec<_>>());
        let header = lines.next().expect("a header");
        let column = |name: &str| {
            header
                .iter()
                .position(|cell| *cell == name)
                .expect("a column")
        };
        let counted = ["stories", "done", "deps"].map(column);
        lines
            .map(|cells| Row {
                file: cells[column("file")].to_owned(),
                counts: counted.map(|column| cells[column].parse().expect("a number")),
                unsure: cells
                    .get(column("unsure"))
                    .copied()
                    .unwrap_or_default()
                    .to_owned(),
            })
            .collect()
    }

    fn read(&self, file: &str) -> Reading {
        let bytes = std::fs::read(self.0.join("files").join(file)).expect("a readable plan");
        read_text(file, bytes)
    }
}

#[expect(
    clippy::print_stdout,
    reason = "a test that is passed over must say so"
)]
fn passed_over(test: &str) {
    println!("{test} passed over: the folder of real plans is not beside the project");
}

fn stories(reading: &Reading) -> &[Story] {
    reading.prd.as_ref().map_or(&[], |prd| &prd.stories)
}

fn counts(reading: &Reading) -> [usize; 3] {
    let stories = stories(reading);
    let done = stories
        .iter()
        .filter(|story| story.state == StoryState::Passed);
    let deps = stories.iter().map(|story| story.depends_on.len()).sum();
    [stories.len(), done.count(), deps]
}

/// Compares the counts of every file whose row is sure; gives the rows that differ.
fn differing(folder: &Folder) -> (Vec<(String, String)>, usize) {
    let mut differ = Vec::new();
    let mut sure = 0;
    for row in folder.rows() {
        let found = counts(&folder.read(&row.file));
        let is_sure = row.unsure.is_empty();
        sure += usize::from(is_sure);
        if is_sure && found != row.counts {
            differ.push((row.file, format!("{:?} and not {:?}", found, row.counts)));
        }
    }
    (differ, sure)
}

/// Files whose sure counts we read otherwise, each with the reason.
const READ_OTHERWISE: &[(&str, &str)] = &[(
    // `P4-1 through P4-10` names ten stories, and the index counts the two that are spelt out.
    "good-yellow-bee__blazelog-mobile__IMPLEMENTATION_PLAN.md",
    "[79, 79, 130] and not [79, 79, 122]",
)];

#[test]
fn every_real_plan_gives_the_counts_that_a_person_made() {
    let Some(folder) = Folder::real() else {
        return passed_over("every_real_plan_gives_the_counts_that_a_person_made");
    };
    let (differ, sure) = differing(&folder);
    let known = |(file, how): &(&str, &str)| ((*file).to_owned(), (*how).to_owned());
    let expected: Vec<(String, String)> = READ_OTHERWISE.iter().map(known).collect();
    assert_eq!(differ, expected, "of {sure} plans");
    println!(
        "{} of {sure} real plans give the counts",
        sure - differ.len()
    );
    assert!(sure >= 70, "the index is there");
}

#[test]
fn every_case_gives_its_counts() {
    let (differ, sure) = differing(&Folder::cases());
    assert_eq!(differ, [], "of {sure} cases");
    assert!(sure >= 60, "the cases are there");
}

/// A file without stories must say why.
#[test]
fn a_file_without_stories_says_why() {
    for row in Folder::cases()
        .rows()
        .iter()
        .filter(|row| row.counts[0] == 0)
    {
        let reading = Folder::cases().read(&row.file);
        assert!(
            reading.prd.is_none() && reading.has_errors(),
            "{}",
            row.file
        );
        let has_help = |found: &Diagnostic| found.help.is_some() || found.at.is_some();
        assert!(
            reading.diagnostics.iter().all(has_help),
            "{}\n{}",
            row.file,
            drawn(&reading)
        );
    }
}

/// How many stories of a plan CI ticks; the soak ticks all.
const SAMPLE_OF_PLAN: usize = 8;

/// Ticks stories of each of a folder's files in turn, and opens those that are ticked. Counts marks
/// and refusals.
fn tick_some(folder: &Folder) -> (usize, usize) {
    let (mut ticked, mut refused) = (0, 0);
    for row in folder.rows() {
        let reading = folder.read(&row.file);
        let all: Vec<&Story> = stories(&reading).iter().collect();
        if all.is_empty() {
            continue;
        }
        for story in sample_of(&row.file, SAMPLE_OF_PLAN, &all) {
            let state = match story.state {
                StoryState::Passed => Mark::Open,
                _ => Mark::Passed,
            };
            match mark(&reading, story.id.as_str(), state, &Options::default()) {
                Ok(marked) => {
                    ticked += 1;
                    assert_own_marks_only(&reading, &marked, story, &row.file);
                    assert_reads_as_marked(&reading, &marked, &story.id, state);
                }
                Err(diagnostic) => {
                    refused += 1;
                    assert_refused_for_good(&reading, story, state, &diagnostic, &row.file);
                }
            }
        }
    }
    (ticked, refused)
}

/// A story may be refused only where its file has no mark for it.
fn assert_refused_for_good(
    reading: &Reading,
    story: &Story,
    state: Mark,
    why: &Diagnostic,
    file: &str,
) {
    let is_marked = reading.read_only.is_none() && has_box(reading, story);
    // One id twice in a file with errors is not clear.
    let unclear = reading.has_errors() && why.message.starts_with("two stories");
    assert!(
        unclear || (why.code == "PRD021" && !is_marked),
        "{file} {} {state:?}: {why:?}",
        story.id
    );
}

/// Says whether the line of a story's title, or the lines up to the next heading, hold a box.
fn has_box(reading: &Reading, story: &Story) -> bool {
    let text = reading.sources.files()[0].text();
    let is_title =
        |line: &&str| line.contains(story.id.as_str()) && line.contains(story.title.as_str());
    let mut lines = text.lines().skip_while(|line| !is_title(line));
    let own = lines.next().unwrap_or_default();
    let below = lines.take_while(|line| !line.starts_with('#'));
    own.contains("[ ]") || below.into_iter().any(|line| line.contains("- [ ]"))
}

/// Compares the texts line by line: what differs is a box's mark, a word for a state or a sign.
fn assert_own_marks_only(reading: &Reading, marked: &Marked, story: &Story, file: &str) {
    let old = reading.sources.files()[marked.file].text();
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.split('\n').collect(), marked.text.split('\n').collect());
    assert_eq!(
        before.len(),
        after.len(),
        "{file} {}: no line comes or goes",
        story.id
    );
    let changed: Vec<(&str, &str)> = before
        .into_iter()
        .zip(after)
        .filter(|(before, after)| before != after)
        .collect();
    for (before, after) in &changed {
        assert!(
            is_a_mark(before, after),
            "{file} {}: {before:?} became {after:?}",
            story.id
        );
    }
    if matches!(reading.format, Format::JsonLines | Format::Json) {
        assert!(changed.len() <= 1, "{file} {}: {changed:?}", story.id);
    }
}

fn is_a_mark(before: &str, after: &str) -> bool {
    let start = before
        .bytes()
        .zip(after.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let start = before
        .floor_char_boundary(start)
        .min(after.floor_char_boundary(start));
    let rest = (&before[start..], &after[start..]);
    let end = rest
        .0
        .bytes()
        .rev()
        .zip(rest.1.bytes().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let cut = |text: &str| text.len() - end;
    let (from, to) = (cut(rest.0), cut(rest.1));
    let is_box = before[..start].ends_with('[') && rest.0[from..].starts_with(']');
    let is_sign = |text: &str| text.trim().is_empty() || text.trim() == "✅";
    let lower = before.to_lowercase();
    let has_word = ["status", "|", "[", "state"]
        .iter()
        .any(|word| lower.contains(word));
    is_box || (is_sign(&rest.0[..from]) && is_sign(&rest.1[..to])) || has_word
}

#[test]
fn a_story_of_a_real_plan_is_ticked_by_its_own_marks() {
    let Some(folder) = Folder::real() else {
        return passed_over("a_story_of_a_real_plan_is_ticked_by_its_own_marks");
    };
    let (ticked, refused) = tick_some(&folder);
    println!("{ticked} marks in real plans, {refused} refused for want of a place");
    assert!(
        ticked > if is_soak() { 2_000 } else { 300 },
        "{ticked} marks"
    );
}

#[test]
fn a_story_of_a_case_is_ticked_by_its_own_marks() {
    let (ticked, refused) = tick_some(&Folder::cases());
    println!("{ticked} marks in cases, {refused} refused for want of a place");
}

/// The diffs that a person wrote: `# story: ID`, then a unified diff of the file.
#[test]
fn a_tick_changes_the_lines_that_a_person_would_change() {
    let folder = Folder::cases();
    let mut seen = 0;
    for entry in std::fs::read_dir(folder.0.join("ticks")).expect("ticks") {
        let path = entry.expect("a diff").path();
        let diff = std::fs::read_to_string(&path).expect("a readable diff");
        let wanted = diff
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("# story: "));
        let wanted = wanted.expect("a story");
        let file = diff.lines().find_map(|line| line.strip_prefix("--- a/"));
        let file = file.expect("a file").trim_end();
        let reading = folder.read(file);
        // A story is named as its file shows it: `#5`, `Task 2.2`, `1. Tokens`, or the beginning of its title.
        let bare = wanted
            .trim_start_matches("Task ")
            .trim_start_matches('#')
            .split(". ")
            .next()
            .unwrap_or(wanted);
        let is_id = |story: &&Story| story.id.as_str() == bare;
        let is_title = |story: &&Story| story.title.starts_with(wanted);
        let all = stories(&reading).iter();
        let story = all
            .clone()
            .find(is_id)
            .or_else(|| all.clone().find(is_title));
        let story = story.unwrap_or_else(|| panic!("{file}: no story {wanted}"));
        let marked = mark(
            &reading,
            story.id.as_str(),
            Mark::Passed,
            &Options::default(),
        );
        let marked = marked.unwrap_or_else(|refused| panic!("{file}: {}", refused.message));
        let of = |sign: char| -> Vec<String> {
            let lines = diff
                .lines()
                .skip(3)
                .filter_map(|line| line.strip_prefix(sign));
            lines
                .map(|line| line.trim_end_matches('\r').to_owned())
                .collect()
        };
        let old = reading.sources.files()[0].text();
        let pairs = old.split('\n').zip(marked.text.split('\n'));
        let (before, after): (Vec<String>, Vec<String>) = pairs
            .filter(|(before, after)| before != after)
            .map(|(before, after)| {
                let bare = |line: &str| line.trim_end_matches('\r').to_owned();
                (bare(before), bare(after))
            })
            .unzip();
        assert_eq!((before, after), (of('-'), of('+')), "{file}: {wanted}");
        seen += 1;
    }
    assert!(seen >= 30, "the diffs are there");
}
