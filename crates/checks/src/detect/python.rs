//! Python with uv, poetry, pipenv or plain pip.
//!
//! Without a tool that locks, packages go to `.venv` in the checkout: a plain `pip install` would
//! change the machine. Every program that a check calls is installed by the setup.

use super::ecosystem::Ecosystem;
use super::propose::{Machine, Proposal, Proposed};
use super::python_needs::{Manifests, Needs, names, section};
use super::python_tests::{Written, is_test_name, root_script, tests};
use crate::tree::Tree;

/// Tools that lock: the lock, the program, how it installs and how it runs a program.
const LOCKS: [(&str, &str, &str, &str); 4] = [
    (
        "uv.lock",
        "uv",
        "uv sync --frozen --all-extras --all-groups",
        "uv run --frozen ",
    ),
    (
        "poetry.lock",
        "poetry",
        "poetry install --no-interaction",
        "poetry run ",
    ),
    ("Pipfile.lock", "pipenv", "pipenv sync --dev", "pipenv run "),
    ("pdm.lock", "pdm", "pdm sync --dev", "pdm run "),
];

const PYTEST_FILES: [&str; 4] = ["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"];

const IN_VENV: &str = ".venv/bin/python -m ";

pub(super) fn propose(tree: &dyn Tree, machine: Machine<'_>) -> Option<Proposal> {
    let project = Project::of(tree);
    if !project.is_python() {
        return None;
    }
    let mut proposal = Proposal::of(Ecosystem::Python);
    let mut checks = [project.typecheck(), project.lint(), project.test()];
    if let Some((lock, command, prefix)) = project.lock(machine, &mut proposal.notes) {
        for (check, what) in checks.iter_mut().zip(["typecheck", "lint", "test"]) {
            let is_missing = |check: &Check| {
                let text = tree.read(lock).unwrap_or_default();
                what != "test" && !names(&text, check.package)
            };
            if check.as_ref().is_some_and(is_missing) {
                let program = check.take().map_or("", |check| check.package);
                proposal.notes.push(format!(
                    "{program} is configured and {lock} does not have it, so there is no {what}"
                ));
            }
        }
        proposal.setup = Some(Proposed::new(command, lock));
        take(&mut proposal, &checks, prefix, prefix);
        return Some(proposal);
    }
    let installs: Vec<&str> = checks
        .iter()
        .flatten()
        .map(|check| check.package)
        .filter(|package| !package.is_empty())
        .collect();
    proposal.setup = project.installation(&installs, &mut proposal.notes);
    let python = if proposal.setup.is_some() {
        IN_VENV
    } else {
        "python3 -m "
    };
    take(
        &mut proposal,
        &checks,
        python,
        python.trim_end_matches("-m "),
    );
    Some(proposal)
}

fn take(proposal: &mut Proposal, checks: &[Option<Check>; 3], module: &str, script: &str) {
    let proposed = |check: &Check| {
        let is_locked = module == script;
        let start = match check.call {
            Call::Module if is_locked => format!("{script}python -m "),
            Call::Program | Call::Module => module.to_owned(),
            Call::File if is_locked => format!("{script}python "),
            Call::File => script.to_owned(),
        };
        Proposed::new(format!("{start}{}", check.words), check.why.as_str())
    };
    let [typecheck, lint, test] = checks.each_ref().map(|check| check.as_ref().map(proposed));
    (proposal.typecheck, proposal.lint, proposal.test) = (typecheck, lint, test);
}

/// One check before it is known how programs are called.
struct Check {
    /// What has to be installed for it; nothing for what Python brings.
    package: &'static str,
    words: String,
    call: Call,
    why: String,
}

enum Call {
    /// A program that is a module too.
    Program,
    /// A module of the standard library.
    Module,
    /// A script.
    File,
}

impl Check {
    fn program(package: &'static str, words: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            package,
            words: words.into(),
            call: Call::Program,
            why: why.into(),
        }
    }
}

struct Project<'a> {
    tree: &'a dyn Tree,
    manifests: Manifests,
    needs: Needs,
    /// Every text that names dependencies.
    dependencies: String,
}

impl<'a> Project<'a> {
    fn of(tree: &'a dyn Tree) -> Self {
        let manifests = Manifests::of(tree);
        let needs = Needs::of(tree, &manifests);
        let mut dependencies: String = needs
            .files
            .iter()
            .map(|path| tree.read(path).unwrap_or_default() + "\n")
            .collect();
        for text in [
            &manifests.pyproject,
            &manifests.setup_cfg,
            &manifests.pipfile,
            &manifests.setup_py,
            &manifests.tox_ini,
        ] {
            dependencies += text;
            dependencies.push('\n');
        }
        Self {
            tree,
            manifests,
            needs,
            dependencies,
        }
    }

    fn is_python(&self) -> bool {
        let files = [
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "Pipfile",
            "tox.ini",
            "conftest.py",
        ];
        let folders = ["", "tests", "test"];
        files.iter().any(|file| self.tree.has(file))
            || PYTEST_FILES.iter().any(|file| self.tree.has(file))
            || !self.needs.files.is_empty()
            || root_script(self.tree).is_some()
            || folders
                .iter()
                .flat_map(|folder| self.tree.list(folder))
                .any(|name| is_test_name(&name))
    }

    /// The lock of the project, with how it is installed and what stands before its programs.
    fn lock(
        &self,
        machine: Machine<'_>,
        notes: &mut Vec<String>,
    ) -> Option<(&'static str, &'static str, &'static str)> {
        let (lock, program, command, prefix) =
            LOCKS.into_iter().find(|(lock, ..)| self.tree.has(lock))?;
        if machine(program) {
            return Some((lock, command, prefix));
        }
        notes.push(format!(
            "{program} is not installed here, so the packages come from pip, without {lock}"
        ));
        None
    }

    /// A virtual environment with all that the checks call; nothing where they call only Python.
    fn installation(&self, programs: &[&str], notes: &mut Vec<String>) -> Option<Proposed> {
        let mut words: Vec<String> = self
            .needs
            .files
            .iter()
            .map(|path| format!("-r {path}"))
            .collect();
        let is_package = self.manifests.is_package();
        if is_package {
            words.push(match self.needs.extras.join(",") {
                extras if extras.is_empty() => "-e .".to_owned(),
                extras => format!("-e '.[{extras}]'"),
            });
        }
        words.extend(
            self.needs
                .groups
                .iter()
                .map(|name| format!("--group {name}")),
        );
        words.extend(self.needs.packages.iter().cloned());
        let is_new = |program: &&str| !words.iter().any(|word| word == program);
        let programs: Vec<String> = programs
            .iter()
            .copied()
            .filter(is_new)
            .map(str::to_owned)
            .collect();
        words.extend(programs);
        if words.is_empty() {
            return None;
        }
        notes.push(
            "nothing locks the Python packages; they are installed anew into .venv".to_owned(),
        );
        let mut command = "python3 -m venv .venv && ".to_owned();
        if !self.needs.groups.is_empty() {
            // Older ones do not know groups, and an environment gets the one that Python brings.
            command += ".venv/bin/pip install -q --upgrade pip && ";
        }
        for variable in self
            .manifests
            .version_variables()
            .iter()
            .filter(|_| is_package)
        {
            notes.push(format!(
                "the package takes its version from git, which a checkout does not have; {variable} stands for it"
            ));
            command += &format!("{variable}=0.0.0 ");
        }
        command += &format!(".venv/bin/pip install -q {}", words.join(" "));
        let why = self
            .needs
            .files
            .first()
            .map_or("a package without a lock file", String::as_str);
        Some(Proposed::new(
            command,
            if is_package || !self.needs.files.is_empty() {
                why
            } else {
                "what the checks call"
            },
        ))
    }

    fn typecheck(&self) -> Option<Check> {
        let own = self
            .tree
            .read("mypy.ini")
            .or_else(|| self.tree.read(".mypy.ini"));
        let ini = [own.as_deref().unwrap_or(""), &self.manifests.setup_cfg];
        let is_mypy = own.is_some()
            || self.manifests.pyproject.contains("[tool.mypy")
            || self.manifests.setup_cfg.contains("[mypy");
        if is_mypy {
            // Where the configuration says what is checked, the whole folder would be too much.
            let keys = ["files", "packages", "modules"];
            let in_table = |key: &&str| self.manifests.value(&["tool", "mypy", key]).is_some();
            let in_ini = |key: &&str| {
                ini.iter()
                    .any(|text| section(text, "mypy").iter().any(|(found, _)| found == key))
            };
            let says_what = keys.iter().any(|key| in_table(key) || in_ini(key));
            let words = if says_what { "mypy" } else { "mypy ." };
            Some(self.tool("mypy", words, "configuration of mypy"))
        } else if self.tree.has("pyrightconfig.json")
            || self.manifests.pyproject.contains("[tool.pyright")
        {
            Some(Check::program(
                "pyright",
                "pyright",
                "configuration of pyright",
            ))
        } else {
            None
        }
    }

    fn lint(&self) -> Option<Check> {
        if self.tree.has("ruff.toml")
            || self.tree.has(".ruff.toml")
            || self.manifests.pyproject.contains("[tool.ruff")
        {
            Some(self.tool("ruff", "ruff check .", "configuration of ruff"))
        } else if self.tree.has(".flake8") || self.manifests.setup_cfg.contains("[flake8]") {
            // It would look at every package that the setup installed.
            let words = "flake8 --extend-exclude .venv";
            Some(self.tool("flake8", words, "configuration of flake8"))
        } else {
            None
        }
    }

    /// A tool as tox calls it, which says what of the project it looks at; else with these words.
    fn tool(&self, package: &'static str, words: &str, why: &str) -> Check {
        let called = self.manifests.tox_ini.lines().find_map(|line| {
            let line = line.trim();
            let line = line.strip_prefix("commands").map_or(line, |rest| {
                rest.trim_start().trim_start_matches('=').trim_start()
            });
            let line = line.strip_prefix("python -m ").unwrap_or(line);
            let (program, rest) = line.split_once(' ')?;
            let is_narrow = !rest.contains(['{', '\\']) && !rest.split(' ').any(|word| word == ".");
            (program == package && is_narrow).then(|| line.to_owned())
        });
        match called {
            Some(words) => Check::program(package, words, "tox.ini"),
            None => Check::program(package, words, why),
        }
    }

    fn shows_pytest(&self) -> Option<String> {
        let own = PYTEST_FILES.into_iter().find(|file| self.tree.has(file));
        if let Some(file) = own {
            return Some(file.to_owned());
        }
        if self.manifests.pyproject.contains("[tool.pytest")
            || self.manifests.setup_cfg.contains("[tool:pytest]")
            || self.manifests.tox_ini.contains("[pytest]")
        {
            return Some("configuration of pytest".to_owned());
        }
        let conftest = ["conftest.py", "tests/conftest.py", "test/conftest.py"];
        if conftest.iter().any(|path| self.tree.has(path)) {
            return Some("conftest.py".to_owned());
        }
        names(&self.dependencies, "pytest").then(|| "pytest among the dependencies".to_owned())
    }

    fn test(&self) -> Option<Check> {
        let found = tests(self.tree);
        let script = found
            .as_ref()
            .filter(|tests| ["test.py", "tests.py"].contains(&tests.file.as_str()));
        if let Some(why) = self.shows_pytest() {
            // Its own name is one that pytest does not look for by itself.
            let words = match script {
                Some(tests) if tests.written != Written::AsScript => {
                    format!("pytest {}", tests.file)
                }
                Some(_) | None => "pytest".to_owned(),
            };
            return Some(Check::program("pytest", words, why));
        }
        let Some(found) = &found else {
            let has_tox = self.tree.has("tox.ini");
            return has_tox.then(|| Check::program("tox", "tox -e py", "tox.ini"));
        };
        let check = |words: String, call| Check {
            package: "",
            words,
            call,
            why: found.file.clone(),
        };
        Some(match (found.written, script) {
            (Written::ForPytest, Some(_)) => Check::program(
                "pytest",
                format!("pytest {}", found.file),
                found.file.as_str(),
            ),
            (Written::ForPytest, None) => Check::program("pytest", "pytest", found.file.as_str()),
            (Written::ForUnittest, Some(_)) => {
                check(format!("unittest {}", found.file), Call::Module)
            }
            (Written::AsScript, Some(_)) => check(found.file.clone(), Call::File),
            (Written::ForUnittest | Written::AsScript, None) => check(
                format!("unittest discover{}", self.start_of(&found.file)),
                Call::Module,
            ),
        })
    }

    /// Where `unittest` must begin: it enters only folders that are packages.
    fn start_of(&self, file: &str) -> String {
        match file.split_once('/') {
            Some((folder, _)) if !self.tree.has(&format!("{folder}/__init__.py")) => {
                format!(" -s {folder}")
            }
            Some(_) | None => String::new(),
        }
    }
}
