//! Folders whose files a harness carries out under names that it computes: `. "lib/$(uname).sh"`, or a
//! `conftest.py` that executes whatever it finds in a folder. No reader of the script sees the names, so
//! each file in such a folder may decide what a test is worth.

use crate::text::extension;

/// How a script looks what there is, and how it carries that out.
type Ways = (&'static [&'static str], &'static [&'static str]);

const OF_PYTHON: Ways = (
    &["glob(", "iterdir(", "listdir(", "scandir(", "walk("],
    &[
        "exec(",
        "import_module(",
        "__import__(",
        "run_path(",
        "spec_from_file_location(",
    ],
);
const OF_SCRIPT: Ways = (
    &["readdirSync(", "readdir(", "globSync(", "glob("],
    &["import(", "require(", "runInThisContext(", "eval("],
);

/// Folders that a script names and whose files it carries out, as they are written.
pub(super) fn computed_folders(path: &str, text: &str) -> Vec<String> {
    match extension(path) {
        "sh" | "bash" | "zsh" => text.lines().flat_map(|line| sourced(line, text)).collect(),
        "py" => carried_out(text, OF_PYTHON),
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" => carried_out(text, OF_SCRIPT),
        _ => Vec::new(),
    }
}

/// Every text in quotes of a script that carries out what it finds: one of them is the folder.
fn carried_out(text: &str, (looks, runs): Ways) -> Vec<String> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if !has(looks) || !has(runs) {
        return Vec::new();
    }
    let pieces = text.lines().flat_map(|line| {
        let quoted = line.split(['"', '\'', '`']).skip(1).step_by(2);
        quoted.map(|word| word.split(['*', '{', '$']).next().unwrap_or(word))
    });
    pieces.filter_map(plain).collect()
}

/// The folders that a line of a shell script reads files from, by `.` or `source`.
fn sourced(line: &str, script: &str) -> Vec<String> {
    let commands = line.split([';', '&', '|']).map(|command| {
        let words = ["then ", "do ", "else ", "if "];
        let start = command.trim_start();
        let start = words.iter().find_map(|word| start.strip_prefix(word));
        start.unwrap_or(command).trim()
    });
    let files = commands.filter_map(|command| {
        let file = command.strip_prefix(". ");
        file.or_else(|| command.strip_prefix("source "))
    });
    files.flat_map(|file| folders_of(file, script)).collect()
}

/// The folder of a file whose name is computed; that of a variable is where its loop looks.
fn folders_of(file: &str, script: &str) -> Vec<String> {
    let file = file.trim().replace(['"', '\''], "");
    let variable = file.trim_matches(['$', '{', '}']);
    if file.starts_with('$') && variable.chars().all(is_of_name) {
        return loop_folders(script, variable);
    }
    let file = without_own_folder(&file);
    let Some(computed) = file.find(['$', '`', '*']) else {
        return Vec::new();
    };
    let folder = file[..computed].rsplit_once('/');
    folder
        .and_then(|(folder, _)| plain(folder))
        .into_iter()
        .collect()
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Where `for NAME in FOLDER/*` looks.
fn loop_folders(script: &str, variable: &str) -> Vec<String> {
    let start = format!("for {variable} in ");
    let loops = script.lines().filter_map(|line| {
        let (_, rest) = line.split_once(&start)?;
        Some(rest.split(';').next().unwrap_or(rest))
    });
    let words = loops.flat_map(str::split_whitespace);
    let patterns = words.filter_map(|word| {
        let word = word.replace(['"', '\''], "");
        let (folder, _) = without_own_folder(&word).split_once("/*")?;
        plain(folder)
    });
    patterns.collect()
}

/// A path without the variable or the command in front that says where the script itself lies.
fn without_own_folder(path: &str) -> &str {
    if !path.starts_with('$') {
        return path;
    }
    let close = if path.starts_with("$(") { ")/" } else { "/" };
    path.split_once(close).map_or(path, |(_, rest)| rest)
}

/// A folder without what leads to it; nothing where none is named, or the one that holds the product in
/// every other project.
fn plain(folder: &str) -> Option<String> {
    let folder = folder.trim_start_matches(['.', '/']).trim_end_matches('/');
    let is_folder = !folder.is_empty() && folder != "src";
    is_folder.then(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i08_folders_of_files_that_a_harness_carries_out_by_computed_names() {
        for (path, text, expected) in [
            ("run.sh", ". \"./lib/$(uname -s).sh\"\n", "lib"),
            (
                "run.sh",
                "if true; then source tools/${NAME}.sh; fi\n",
                "tools",
            ),
            ("run.sh", ". \"$(dirname \"$0\")/lib/$X.sh\"\n", "lib"),
            ("run.sh", ". \"$HERE/lib/x/$X.sh\"\n", "lib/x"),
            (
                "run.sh",
                "for f in lib/*.sh \"$HERE\"/more/*.sh; do\n  . \"$f\"\ndone\n",
                "lib more",
            ),
            ("run.sh", "for f in lib/*.sh; do cat \"$f\"; done\n", ""),
            ("run.sh", ". lib/known.sh\nsh lib/$X.sh\n", ""),
            ("run.sh", ". src/$X.sh\n. $X.sh\n", ""),
            (
                "tests/conftest.py",
                "for p in (HERE / 'checks').glob('*.py'):\n    exec(p.read_text())\n",
                "checks",
            ),
            (
                "conftest.py",
                "for p in glob.glob('./qa/hooks/*.py'):\n    runpy.run_path(p)\n",
                "qa/hooks",
            ),
            (
                "conftest.py",
                "rows = list((HERE / 'data').glob('*.json'))\n",
                "",
            ),
            (
                "setup.js",
                "for (const f of readdirSync('begin')) await import(`./begin/${f}`);\n",
                "begin begin",
            ),
            ("conftest.py", "exec(TEXT, {'checks': 1})\n", ""),
            ("setup.js", "import './begin.js';\n", ""),
        ] {
            assert_eq!(computed_folders(path, text).join(" "), expected, "{text}");
        }
    }
}
