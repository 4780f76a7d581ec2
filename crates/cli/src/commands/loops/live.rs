//! A loop as `watch` draws it in a terminal: questions, then every story with what its agents do
//! right now, waits, and what it all cost. Pure: the same view at the same time gives the same text.

use super::live_asked::{LiveQuestion, asked};
use super::live_paper::{Colour, Screen};
use super::rendering::dollars;

/// What is drawn.
#[derive(Debug, Clone, Default)]
pub(super) struct LiveView {
    pub(super) loop_id: String,
    pub(super) status: &'static str,
    pub(super) reason: String,
    pub(super) started_at_ms: i64,
    pub(super) warning: Option<String>,
    pub(super) questions: Vec<LiveQuestion>,
    pub(super) stories: Vec<LiveStory>,
    pub(super) waits: Vec<LiveWait>,
    pub(super) used: Used,
    pub(super) budget_used_percent: Option<u64>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct LiveStory {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) status: &'static str,
    /// Why it ended so; empty while it is worked on.
    pub(super) detail: String,
    pub(super) clock: Clock,
    pub(super) used: Used,
    pub(super) runs: Vec<LiveRun>,
}

/// A run that is under way.
#[derive(Debug, Clone, Default)]
pub(super) struct LiveRun {
    pub(super) stage: &'static str,
    pub(super) agent: String,
    pub(super) started_at_ms: i64,
    /// What it did last.
    pub(super) activity: String,
    pub(super) used: Used,
}

#[derive(Debug, Clone, Default)]
pub(super) struct LiveWait {
    pub(super) story: String,
    pub(super) what: String,
    pub(super) until_ms: i64,
    pub(super) cause: String,
}

/// How long something has taken.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Clock {
    #[default]
    NotStarted,
    Since(i64),
    Took(i64),
}

/// Tokens and money, as far as they are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) tokens: Option<u64>,
    pub(super) cost_micro_usd: Option<u64>,
}

impl Used {
    /// Both together. What one of them does not know is not counted.
    pub(super) fn and(self, other: Self) -> Self {
        let sum = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        Self {
            tokens: sum(self.tokens, other.tokens),
            cost_micro_usd: sum(self.cost_micro_usd, other.cost_micro_usd),
        }
    }
}

/// Draws the view. No line is wider than the screen, and there are fewer lines than rows, so that
/// the next drawing can take the place of this one.
pub(super) fn render(view: &LiveView, now_ms: i64, screen: Screen) -> String {
    let mut above = vec![heading(view, now_ms, screen)];
    for question in &view.questions {
        above.extend(asked(question, view.questions.len(), screen));
    }
    if let Some(warning) = &view.warning {
        above.push(screen.painted(Colour::Yellow, &screen.cut(&format!("warning: {warning}"))));
    }
    let waits = view.waits.iter().map(|wait| waiting(wait, now_ms, screen));
    let mut below: Vec<String> = waits.collect();
    below.extend(footer(view, screen));
    // One row is for the cursor, and one for the line about stories that are not shown.
    let room = screen.rows.saturating_sub(above.len() + below.len() + 2);
    let columns = Columns::of(view);
    let blocks: Vec<Vec<String>> = view
        .stories
        .iter()
        .map(|story| block(story, now_ms, columns, screen))
        .collect();
    let mut lines = above;
    lines.extend(fitting(view, &blocks, room, screen));
    lines.extend(below);
    lines.truncate(screen.rows.saturating_sub(1).max(1));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn heading(view: &LiveView, now_ms: i64, screen: Screen) -> String {
    let n_over = view.stories.iter().filter(|story| is_over(story)).count();
    // What it asks stands below.
    let asks = view.status == "needs_human" && !view.questions.is_empty();
    let reason = if view.reason.is_empty() || asks {
        String::new()
    } else {
        format!(": {}", view.reason)
    };
    let text = format!(
        "loop {}  {}, {n_over} of {} stories over, {}{reason}",
        view.loop_id,
        view.status,
        view.stories.len(),
        time(now_ms - view.started_at_ms)
    );
    screen.painted(Colour::Bold, &screen.cut(&text))
}

fn waiting(wait: &LiveWait, now_ms: i64, screen: Screen) -> String {
    let left = time(wait.until_ms - now_ms);
    let text = format!(
        "waits    {}  {} for another {left}: {}",
        wait.story, wait.what, wait.cause
    );
    screen.painted(Colour::Yellow, &screen.cut(&text))
}

fn footer(view: &LiveView, screen: Screen) -> Option<String> {
    let budget = view.budget_used_percent;
    let budget = budget.map(|percent| format!("{percent} % of the budget"));
    let parts = [amounts(view.used), budget.unwrap_or_default()];
    let used: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let used = (!used.is_empty()).then(|| format!("used     {}", used.join(", ")));
    let is_over = matches!(view.status, "completed" | "cancelled" | "failed");
    let hint = (!is_over).then(|| "Ctrl-C leaves it".to_owned());
    let parts: Vec<String> = [used, hint].into_iter().flatten().collect();
    let line = screen.cut(&parts.join("; "));
    (!parts.is_empty()).then(|| screen.painted(Colour::Dim, &line))
}

/// The columns of a story's status, and of the gap behind it.
const STATUS_COLUMNS: usize = 9;

/// The lines of one story: its own, and one for each run.
fn block(story: &LiveStory, now_ms: i64, columns: Columns, screen: Screen) -> Vec<String> {
    let clock = match story.clock {
        Clock::NotStarted => String::new(),
        Clock::Since(began_ms) => time(now_ms - began_ms),
        Clock::Took(took_ms) => time(took_ms),
    };
    let live = story.runs.iter().map(|run| run.used);
    let used = live.fold(story.used, Used::and);
    let detail = if story.detail.is_empty() {
        String::new()
    } else {
        format!("  ({})", story.detail)
    };
    let ids = columns.ids;
    let text = format!("{:<ids$}  {}{detail}", story.id, story.title);
    let status = screen.painted(colour_of(story.status), &format!("{:<8}", story.status));
    let rest = screen.row(&text, &columns.beside(&clock, used), STATUS_COLUMNS);
    let mut lines = vec![format!("{status} {rest}")];
    for run in &story.runs {
        let clock = time(now_ms - run.started_at_ms);
        let who = if run.agent.is_empty() {
            run.stage.to_owned()
        } else {
            format!("{} by {}", run.stage, run.agent)
        };
        let text = format!("         {who}  {}", run.activity);
        lines.push(screen.row(&text, &columns.beside(&clock, run.used), 0));
    }
    lines
}

/// The columns of a story's id; a longer one moves its own title only.
const ID_COLUMNS_MAX: usize = 24;

/// How wide the ids are, and what stands at the right of the stories and runs: time, and tokens and money
/// if any are known.
#[derive(Clone, Copy)]
struct Columns {
    ids: usize,
    has_tokens: bool,
    has_cost: bool,
}

impl Columns {
    fn of(view: &LiveView) -> Self {
        let stories = view.stories.iter();
        let all = stories.flat_map(|story| {
            let runs = story.runs.iter().map(|run| run.used);
            runs.chain([story.used])
        });
        let sum = all.fold(Used::default(), Used::and);
        let ids = view.stories.iter().map(|story| story.id.chars().count());
        Self {
            ids: ids.filter(|ids| *ids <= ID_COLUMNS_MAX).max().unwrap_or(0),
            has_tokens: sum.tokens.is_some(),
            has_cost: sum.cost_micro_usd.is_some(),
        }
    }

    /// Each as wide in every line.
    fn beside(self, clock: &str, used: Used) -> String {
        if clock.is_empty() && used == Used::default() {
            return String::new();
        }
        let mut out = format!("{clock:>6}");
        if self.has_tokens {
            let tokens = used.tokens.map(count).unwrap_or_default();
            out.push_str(&format!("  {tokens:>6}"));
        }
        if self.has_cost {
            let cost = used.cost_micro_usd.map(dollars).unwrap_or_default();
            out.push_str(&format!("  {cost:>7}"));
        }
        out
    }
}

fn amounts(used: Used) -> String {
    let tokens = used
        .tokens
        .map(|tokens| format!("{} tokens", count(tokens)));
    let cost = used.cost_micro_usd.map(dollars);
    let parts: Vec<String> = [tokens, cost].into_iter().flatten().collect();
    parts.join(", ")
}

/// The stories' lines, as many as fit: those that are worked on, then as many others as there is room
/// for, all in their order.
fn fitting(view: &LiveView, blocks: &[Vec<String>], room: usize, screen: Screen) -> Vec<String> {
    let n_lines: usize = blocks.iter().map(Vec::len).sum();
    // Without hidden stories there is no line about them.
    if n_lines <= room + 1 {
        return blocks.concat();
    }
    let is_live = |index: &usize| !view.stories[*index].runs.is_empty();
    let live = (0..blocks.len()).filter(is_live);
    let rank = |index: &usize| is_over(&view.stories[*index]);
    let open = (0..blocks.len()).filter(|index| !is_live(index) && !rank(index));
    let over = (0..blocks.len()).filter(|index| !is_live(index) && rank(index));
    let (mut shown, mut left) = (Vec::new(), room);
    for index in live.chain(open).chain(over) {
        if blocks[index].len() > left {
            break;
        }
        left -= blocks[index].len();
        shown.push(index);
    }
    shown.sort_unstable();
    let mut lines: Vec<String> = shown
        .iter()
        .flat_map(|index| blocks[*index].clone())
        .collect();
    let hidden = format!(
        "…        {} more; `loopwright status {}` shows all",
        crate::words::counted(blocks.len() - shown.len(), "story", "stories"),
        view.loop_id
    );
    lines.push(screen.painted(Colour::Dim, &screen.cut(&hidden)));
    lines
}

fn is_over(story: &LiveStory) -> bool {
    matches!(story.status, "passed" | "skipped")
}

fn colour_of(status: &str) -> Colour {
    match status {
        "passed" => Colour::Green,
        "running" => Colour::Cyan,
        "skipped" => Colour::Red,
        "blocked" => Colour::Yellow,
        _ => Colour::Dim,
    }
}

/// A number in at most six characters.
fn count(number: u64) -> String {
    const THOUSAND: u64 = 1000;
    let tenths = |unit: u64| format!("{}.{}", number / unit, number % unit / (unit / 10));
    match number {
        0..THOUSAND => number.to_string(),
        THOUSAND..1_000_000 => tenths(THOUSAND) + "k",
        _ => tenths(1_000_000) + "M",
    }
}

/// A time as people say it, to the second.
fn time(ms: i64) -> String {
    let secs = ms.max(0) / 1000;
    let (hours, minutes, secs) = (secs / 3600, secs / 60 % 60, secs % 60);
    match (hours, minutes) {
        (0, 0) => format!("{secs}s"),
        (0, _) => format!("{minutes}m{secs:02}s"),
        _ => format!("{hours}h{minutes:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::live_paper::width;
    use super::*;

    const NOW_MS: i64 = 10_000_000;

    fn story(id: &str, status: &'static str) -> LiveStory {
        LiveStory {
            id: id.to_owned(),
            title: format!("The story of {id}"),
            status,
            ..LiveStory::default()
        }
    }

    fn view() -> LiveView {
        let used = |tokens, cost_micro_usd| Used {
            tokens: Some(tokens),
            cost_micro_usd,
        };
        let run = |stage, agent: &str, secs: i64, activity: &str| LiveRun {
            stage,
            agent: agent.to_owned(),
            started_at_ms: NOW_MS - secs * 1000,
            activity: activity.to_owned(),
            used: used(1234, Some(20_000)),
        };
        LiveView {
            loop_id: "01J00000000000000000000000".to_owned(),
            status: "running",
            started_at_ms: NOW_MS - 4_000_000,
            warning: Some("the PRD prds/shop.md: it is gone".to_owned()),
            questions: vec![LiveQuestion {
                story: "login".to_owned(),
                text: "Which database \u{1b}[2Jshall it be?\nThere are two.".to_owned(),
                command: "loopwright answer 01J00000000000000000000000 --story login retry|skip"
                    .to_owned(),
            }],
            stories: vec![
                LiveStory {
                    clock: Clock::Took(192_000),
                    used: used(12_345, Some(1_230_000)),
                    ..story("one", "passed")
                },
                LiveStory {
                    title: "日本語の長い題名がここにあり、とても広い文字でできているので切られる。これは本当に長いので百六十桁でも足りないはずだから、もう少し書いておくことにしよう".to_owned(),
                    clock: Clock::Since(NOW_MS - 65_000),
                    used: used(4_000_000, None),
                    runs: vec![
                        run("implement", "codex", 45, "edited src/\u{1b}]0;owned\u{7}main.rs"),
                        run("write-tests", "claude", 3725, "tool Bash cargo test --workspace --all-targets --no-fail-fast -- --test-threads=1 and so on and on"),
                    ],
                    ..story("two", "running")
                },
                LiveStory {
                    detail: "the judge said no three times".to_owned(),
                    ..story("three", "skipped")
                },
                story("login", "running"),
                story("five", "pending"),
            ],
            waits: vec![LiveWait {
                story: "four".to_owned(),
                what: "judge by claude".to_owned(),
                until_ms: NOW_MS + 272_000,
                cause: "rate limited".to_owned(),
            }],
            used: used(4_100_000, Some(1_250_000)),
            budget_used_percent: Some(12),
            ..LiveView::default()
        }
    }

    fn drawn(view: &LiveView, columns: usize, rows: usize, colours: bool) -> String {
        let screen = Screen {
            columns,
            rows,
            colours,
        };
        render(view, NOW_MS, screen)
    }

    #[test]
    fn a_loop_is_drawn_in_80_columns() {
        insta::assert_snapshot!(drawn(&view(), 80, 50, false));
    }

    #[test]
    fn a_loop_is_drawn_in_160_columns() {
        insta::assert_snapshot!(drawn(&view(), 160, 50, false));
    }

    #[test]
    fn a_loop_is_drawn_in_colours() {
        let coloured = drawn(&view(), 80, 50, true);
        insta::assert_snapshot!(coloured.replace('\u{1b}', "ESC"));
        let mut plain = coloured;
        for code in ["0", "1", "2", "31", "32", "33", "35", "36"] {
            plain = plain.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert_eq!(
            plain,
            drawn(&view(), 80, 50, false),
            "only the colours differ"
        );
    }

    #[test]
    fn a_drawing_never_leaves_the_screen() {
        let mut many = view();
        let more = (0..60).map(|n| story(&format!("more-{n}"), "pending"));
        many.stories.extend(more);
        for columns in [1, 9, 20, 40, 79, 80, 200] {
            for rows in [1, 5, 12, 24, 100] {
                let text = drawn(&many, columns, rows, false);
                assert!(
                    text.lines().count() < rows.max(2),
                    "{columns}x{rows}:\n{text}"
                );
                for line in text.lines() {
                    assert!(width(line) <= columns.max(9), "{columns}x{rows}: {line}");
                    assert!(!line.contains(char::is_control), "{line:?}");
                }
            }
        }
        let text = drawn(&many, 80, 24, false);
        assert!(
            text.contains("implement by codex"),
            "what runs is shown:\n{text}"
        );
        assert!(text.contains("more; `loopwright status 01J"), "{text}");
    }

    #[test]
    fn numbers_and_times_read_as() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1.0k"),
            (12_345, "12.3k"),
            (999_999, "999.9k"),
            (4_000_000, "4.0M"),
        ] {
            assert_eq!(count(number), expected);
        }
        for (ms, expected) in [
            (-5, "0s"),
            (999, "0s"),
            (59_999, "59s"),
            (60_000, "1m00s"),
            (3_600_000, "1h00m"),
            (90_061_000, "25h01m"),
        ] {
            assert_eq!(time(ms), expected);
        }
    }
}
