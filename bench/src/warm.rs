//! What reused builds save: one story with instant agents on a crate with many dependencies, a TypeScript
//! project and a Python project, in jails. The same tree is measured from nothing and over a root in
//! the same run, and an author's first build likewise, both in seconds of processor time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::driven::{program, succeed};
use crate::talk::{Outcome, say};

/// A project, and what is done in it.
struct Project {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// Makes the lock file.
    lock: &'static str,
    checks: &'static str,
    /// What an author runs first.
    build: &'static str,
    implement: &'static str,
    write: &'static str,
    test: &'static str,
    /// The most that a warm check may take of a cold one.
    demanded: f64,
}

const CRATE: Project = Project {
    name: "crate",
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n\
             serde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\nregex = \"1\"\n\
             clap = { version = \"4\", features = [\"derive\"] }\ntoml = \"0.8\"\nrand = \"0.8\"\nchrono = \"0.4\"\nurl = \"2\"\n",
        ),
        (".gitignore", "target\n"),
        (
            "src/lib.rs",
            "pub fn price(n: u32) -> u32 {\n    n * 2\n}\n",
        ),
        (
            "tests/price.rs",
            "#[test]\nfn price_of_three() {\n    assert_eq!(shop::price(3), 6);\n}\n",
        ),
    ],
    lock: "cargo generate-lockfile --quiet",
    checks: "typecheck = \"cargo check --all-targets\"\ntest = \"cargo test\"\n",
    build: "cargo fetch > /dev/null 2>&1; cargo test --no-run",
    implement: "printf 'pub fn double(n: u32) -> u32 {\\n    n * 2\\n}\\n' >> src/lib.rs",
    write: "printf '#[test]\\nfn doubles() {\\n    assert_eq!(shop::double(2), 4);\\n}\\n' > tests/doubles.rs",
    test: "doubles",
    demanded: 1.0 / 3.0,
};

const TYPESCRIPT: Project = Project {
    name: "TypeScript",
    files: &[
        (
            "package.json",
            // The newest rollup names packages of other machines that not every mirror has, and then
            // npm refuses its own lock file.
            "{\"name\": \"shop\", \"private\": true, \"type\": \"module\", \"scripts\": {\"test\": \"vitest run\"},\n\
             \"overrides\": {\"rollup\": \"4.52.5\"},\n\
             \"devDependencies\": {\"typescript\": \"5.9.3\", \"vitest\": \"3.2.4\", \"eslint\": \"9.39.1\"}}\n",
        ),
        (
            "tsconfig.json",
            "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true, \"module\": \"nodenext\", \"skipLibCheck\": true}, \"include\": [\"src\"]}\n",
        ),
        (".gitignore", "node_modules\n"),
        (
            "src/shop.ts",
            "export const price = (n: number): number => n * 2;\n",
        ),
        (
            "tests/price.test.ts",
            "import { expect, test } from 'vitest';\nimport { price } from '../src/shop';\ntest('price', () => expect(price(3)).toBe(6));\n",
        ),
    ],
    lock: "npm install --package-lock-only --ignore-scripts --no-audit --no-fund --silent",
    checks: "setup = \"npm ci --no-audit --no-fund\"\ntypecheck = \"npx tsc\"\ntest = \"npx vitest run\"\n",
    build: "[ -d node_modules ] || npm ci --no-audit --no-fund > /dev/null 2>&1; npx tsc",
    implement: "echo 'export const double = (n: number): number => n * 2;' >> src/shop.ts",
    write: "printf \"import { expect, test } from 'vitest';\\nimport { double } from '../src/shop';\\n\
            test('doubles', () => expect(double(2)).toBe(4));\\n\" > tests/doubles.test.ts",
    test: "doubles",
    demanded: 0.75,
};

const PYTHON: Project = Project {
    name: "Python",
    files: &[
        (
            "requirements.txt",
            "pytest\nmypy\npydantic\nrequests\njinja2\nattrs\n",
        ),
        (".gitignore", ".venv\n__pycache__\n"),
        ("shop.py", "def price(n: int) -> int:\n    return n * 2\n"),
        (
            "tests/test_price.py",
            "import shop\n\n\ndef test_price():\n    assert shop.price(3) == 6\n",
        ),
        ("conftest.py", ""),
    ],
    lock: "true",
    checks: "setup = \"python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt\"\n\
             typecheck = \".venv/bin/python -m mypy shop.py\"\ntest = \".venv/bin/python -m pytest -q\"\n",
    build: "[ -d .venv ] || { python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt; }; .venv/bin/python -m pytest -q",
    implement: "printf '\\n\\ndef double(n: int) -> int:\\n    return n * 2\\n' >> shop.py",
    write: "printf 'import shop\\n\\n\\ndef test_doubles():\\n    assert shop.double(2) == 4\\n' > tests/test_doubles.py",
    test: "test_doubles",
    demanded: 1.0 / 3.0,
};

/// `bench warm [PROJECT…]`: all projects, or those that are named.
pub(crate) fn run(arguments: &[String]) -> Outcome<()> {
    say("seconds of processor time: a check of one changed file, and an author's first build");
    let is_meant = |project: &Project| {
        arguments.is_empty() || arguments.iter().any(|name| name == project.name)
    };
    for project in [CRATE, TYPESCRIPT, PYTHON].into_iter().filter(is_meant) {
        let scratch = tempfile::tempdir()?;
        let figures = measure(scratch.path(), &project)?;
        let line = |what: &str, [cold, warm]: [f64; 2], demanded: f64| {
            let ratio = warm / cold;
            let holds = if ratio <= demanded { "yes" } else { "NO" };
            say(&format!(
                "{:<10} {what:<12} cold {cold:7.2}   warm {warm:7.2}   {ratio:4.2} (demanded: at most {demanded:.2}; holds: {holds})",
                project.name
            ));
        };
        line("check", figures.check, project.demanded);
        line("first build", figures.build, 1.0 / 3.0);
    }
    Ok(())
}

/// Seconds, cold and warm.
struct Figures {
    check: [f64; 2],
    build: [f64; 2],
}

fn measure(folder: &Path, project: &Project) -> Outcome<Figures> {
    make(folder, project)?;
    let prd = folder.join("project/prd.json");
    let text = fs::read(&prd)?;
    let only_first = ["--set", "checks.warm=off", "--set", "loop.max_iterations=1"];
    start(folder, "cold", &only_first)?;
    // The loop has marked there what it did.
    fs::write(&prd, text)?;
    start(folder, "warm", &[])?;
    let check = measured(&folder.join("warm"), "0001-1-check-1")?;
    let cpu = |what: &str| {
        let found = check["cpu_ms"][what].as_f64();
        found
            .map(|ms| ms / 1000.0)
            .ok_or(format!("{what} was not measured: {check}"))
    };
    Ok(Figures {
        check: [cpu("candidate")?, cpu("candidate, warm")?],
        build: [
            built(&folder.join("cold"), "0001-1-implement-1")?,
            built(&folder.join("warm"), "0002-1-implement-1")?,
        ],
    })
}

fn make(folder: &Path, project: &Project) -> Outcome<()> {
    let place = folder.join("project");
    for (name, text) in project.files {
        let path = place.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&place))?;
        fs::write(path, text)?;
    }
    succeed(
        Command::new("bash")
            .args(["-c", project.lock])
            .current_dir(&place),
    )?;
    let story = |id: &str| {
        format!(
            r#"{{"id":"{id}","title":"Double","acceptance_criteria":["it doubles"],"passes":false}}"#
        )
    };
    let prd = format!(r#"{{"stories":[{},{}]}}"#, story("one"), story("two"));
    fs::write(place.join("prd.json"), prd)?;
    workspace::init_repository(&place, "start")?;
    // Of the second story only its author's first build is looked at, which is over what was kept while the
    // first was measured; so the author gives up after it.
    let agent = format!(
        "cat > /dev/null\ncase \"$LOOPWRIGHT_STAGE\" in\n\
         implement) TIMEFORMAT='built %U %S'; time {{ {}; }} > /dev/null 2>&1; [ $LOOPWRIGHT_STORY_ID = one ] || exit 1; {} ;;\n\
         write-tests) {}; echo '{{\"summary\": \"s\", \"criteria\": [{{\"criterion\": \"it doubles\", \"tests\": [\"{}\"]}}], \"findings\": []}}' ;;\n\
         review) echo '{{\"summary\": \"seen\", \"criteria\": [], \"findings\": []}}' ;;\n\
         judge) echo \"{{\\\"verdict\\\": \\\"PASS\\\", \\\"commit\\\": \\\"$LOOPWRIGHT_CANDIDATE\\\", \\\"reason\\\": \\\"r\\\", \
         \\\"criteria\\\": [{{\\\"criterion\\\": \\\"it doubles\\\", \\\"pass\\\": true, \\\"evidence\\\": \\\"seen\\\"}}]}}\" ;;\nesac\n",
        project.build, project.implement, project.write, project.test
    );
    fs::write(folder.join("agent.sh"), agent)?;
    let roles: String = ["implementor", "reviewer", "judge"]
        .iter()
        .map(|role| format!("[roles.{role}]\nagent = \"any\"\n"))
        .collect();
    let config = format!(
        "[agents.any]\ncommand = [\"bash\", \"{0}/agent.sh\"]\n{roles}[checks]\nmutants = 0\n{1}\
         [loop]\nmax_retries = 0\n[sandbox]\nread = [\"{0}/agent.sh\"]\n",
        folder.display(),
        project.checks
    );
    fs::write(place.join("loopwright.toml"), config)?;
    Ok(())
}

fn start(folder: &Path, state: &str, more: &[&str]) -> Outcome<()> {
    let mut command = Command::new(program()?);
    command.args(["start", "--project", "project", "--prd", "project/prd.json"]);
    command.args(["--flow", "quartet", "--foreground", "--json"]);
    command
        .args(more)
        .current_dir(folder)
        .env("LOOPWRIGHT_HOME", folder.join(state))
        .env("LOOPWRIGHT_SANDBOX_KIND", "bwrap")
        .env("LOOPWRIGHT_WARM_LEAST_MS", "0");
    // The second story is skipped, since its author gives up; without a check of the first one nothing
    // was measured.
    let output = command.output()?;
    if run_folder(&folder.join(state), "0001-1-check-1").is_ok_and(|run| run.exists()) {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    Err(format!("the loop checked nothing: {said}").into())
}

fn run_folder(state: &Path, run: &str) -> Outcome<PathBuf> {
    let mut loops = fs::read_dir(state.join("loops"))?;
    let first = loops.next().ok_or("no loop was recorded")??;
    Ok(first.path().join("runs").join(run))
}

fn measured(state: &Path, run: &str) -> Outcome<Value> {
    let text = fs::read(run_folder(state, run)?.join("measured.json"))?;
    Ok(serde_json::from_slice(&text)?)
}

/// What the author's first build took.
fn built(state: &Path, run: &str) -> Outcome<f64> {
    let folder = run_folder(state, run)?;
    let mut said = String::new();
    for entry in fs::read_dir(&folder)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with("std") {
            said += &String::from_utf8_lossy(&fs::read(entry.path())?);
        }
    }
    let line = said.lines().find_map(|line| line.strip_prefix("built "));
    let line = line.ok_or_else(|| format!("the author built nothing: {said}"))?;
    let mut seconds = 0.0;
    for number in line.split_whitespace() {
        seconds += number.parse::<f64>()?;
    }
    Ok(seconds)
}
