//! The reader's limits, in one place, each with its reason. Input over a limit is diagnostic PRD012
//! (for an id PRD010). A limit on output only shortens it, and the output says so.

/// The largest file that is read. The largest real PRD known has 60 KB; this is room for 100,000
/// plain stories.
pub const FILE_BYTES_MAX: usize = 48 * 1024 * 1024;

/// The largest YAML file that is read. The scanner keeps up to 180 bytes per byte of a flow list on
/// one line, so this bounds its memory. It is room for 10,000 plain stories.
pub const YAML_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The most Markdown tickets that a folder may hold.
pub const TICKETS_MAX: usize = 20_000;

/// The most stories in one PRD.
pub const STORIES_MAX: usize = 100_000;

/// How deep lists and maps may be nested. The parser recurses, so this also bounds its stack.
pub const DEPTH_MAX: usize = 128;

/// The most values in one file, counted after YAML aliases are expanded: a few hundred bytes of
/// nested aliases can stand for billions of values.
pub const NODES_MAX: usize = 4_000_000;

/// The longest story id, in characters: it becomes part of refs, file names and commit subjects.
pub const ID_CHARS_MAX: usize = 100;

/// The most diagnostics of one code that are kept; the rest are only counted.
pub const DIAGNOSTICS_PER_CODE_MAX: usize = 200;

/// The most places that one diagnostic names besides its first.
pub const MORE_PLACES_MAX: usize = 20;

/// The most stories of a dependency cycle that are named in a message.
pub const CYCLE_STORIES_SHOWN_MAX: usize = 30;

/// The most normalisations that are kept; the rest are only counted.
pub const CHANGES_MAX: usize = 500_000;

/// The most dependencies of all stories together, counted after a dependency on a group is replaced
/// by one on each of its stories.
pub const DEPENDENCIES_MAX: usize = 2_000_000;

/// The help for a PRD that is too large in some way.
pub(crate) const SPLIT: &str = "split the PRD into several; a loop works through one at a time";

/// Formats a number with separators, as in `4,000,000`.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
