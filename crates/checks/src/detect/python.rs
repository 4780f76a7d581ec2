//! Python with uv, poetry, pipenv or plain pip.
//!
//! Without a tool that locks, packages go to `.venv` in the checkout: a plain `pip install` would
//! change the machine.

use super::ecosystem::Ecosystem;
use super::propose::{Proposal, Proposed};
use crate::text::extension;
use crate::tree::Tree;

const REQUIREMENTS: [&str; 7] = [
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-test.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "test-requirements.txt",
    "requirements/dev.txt",
];

pub(super) fn propose(tree: &dyn Tree) -> Option<Proposal> {
    let project = Project::of(tree);
    if !project.is_python() {
        return None;
    }
    let mut proposal = Proposal::of(Ecosystem::Python);
    let (setup, prefix) = project.setup();
    proposal.setup = setup;
    proposal.typecheck = project
        .typecheck()
        .map(|(program, why)| Proposed::new(format!("{prefix}{program}"), why));
    proposal.lint = project
        .lint()
        .map(|(program, why)| Proposed::new(format!("{prefix}{program}"), why));
    proposal.test = project.test(&prefix);
    if prefix.starts_with(".venv") {
        proposal.notes.push(
            "nothing locks the Python packages; they are installed anew into .venv".to_owned(),
        );
    }
    Some(proposal)
}

struct Project<'a> {
    tree: &'a dyn Tree,
    pyproject: String,
    setup_cfg: String,
    requirements: Vec<&'static str>,
    /// Every text that names dependencies.
    dependencies: String,
}

impl<'a> Project<'a> {
    fn of(tree: &'a dyn Tree) -> Self {
        let read = |path: &str| tree.read(path).unwrap_or_default();
        let (pyproject, setup_cfg) = (read("pyproject.toml"), read("setup.cfg"));
        let requirements: Vec<&str> = REQUIREMENTS
            .into_iter()
            .filter(|path| tree.read(path).is_some())
            .collect();
        let mut dependencies: String = requirements.iter().map(|path| read(path) + "\n").collect();
        for text in [
            &pyproject,
            &setup_cfg,
            &read("Pipfile"),
            &read("setup.py"),
            &read("tox.ini"),
        ] {
            dependencies += text;
        }
        Self {
            tree,
            pyproject,
            setup_cfg,
            requirements,
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
            "pytest.ini",
            "conftest.py",
        ];
        files.iter().any(|file| self.tree.has(file))
            || !self.requirements.is_empty()
            || self.test_file().is_some()
    }

    fn test_file(&self) -> Option<String> {
        let folders = ["", "tests", "test"];
        let mut names = folders.iter().flat_map(|folder| self.tree.list(folder));
        names.find(|name| name.starts_with("test_") && extension(name) == "py")
    }

    fn is_package(&self) -> bool {
        self.tree.has("setup.py") || self.pyproject.contains("[build-system]")
    }

    /// How the project is prepared, and what stands before its programs.
    fn setup(&self) -> (Option<Proposed>, String) {
        for (lock, command, prefix) in [
            (
                "uv.lock",
                "uv sync --frozen --all-extras --all-groups",
                "uv run --frozen ",
            ),
            (
                "poetry.lock",
                "poetry install --no-interaction",
                "poetry run ",
            ),
            ("Pipfile.lock", "pipenv sync --dev", "pipenv run "),
            ("pdm.lock", "pdm sync --dev", "pdm run "),
        ] {
            if self.tree.has(lock) {
                return (Some(Proposed::new(command, lock)), prefix.to_owned());
            }
        }
        let mut packages: Vec<String> = self
            .requirements
            .iter()
            .map(|path| format!("-r {path}"))
            .collect();
        if self.is_package() {
            packages.push("-e .".to_owned());
        }
        if packages.is_empty() {
            return (None, "python3 -m ".to_owned());
        }
        let tools = [
            self.typecheck(),
            self.lint(),
            self.shows_pytest().map(|why| ("pytest", why)),
        ];
        packages.extend(
            tools
                .iter()
                .flatten()
                .filter_map(|(program, _)| program.split(' ').next())
                .map(str::to_owned),
        );
        let why = self
            .requirements
            .first()
            .copied()
            .unwrap_or("a package without a lock file");
        let command = format!(
            "python3 -m venv .venv && .venv/bin/pip install -q {}",
            packages.join(" ")
        );
        (
            Some(Proposed::new(command, why)),
            ".venv/bin/python -m ".to_owned(),
        )
    }

    fn names(&self, package: &str) -> bool {
        let is_edge = |c: Option<char>| {
            c.is_none_or(|c| !(c.is_alphanumeric() || c == '-' || c == '_' || c == '.'))
        };
        self.dependencies.match_indices(package).any(|(at, _)| {
            is_edge(self.dependencies[..at].chars().next_back())
                && is_edge(self.dependencies[at + package.len()..].chars().next())
        })
    }

    fn typecheck(&self) -> Option<(&'static str, &'static str)> {
        if self.tree.has("mypy.ini")
            || self.pyproject.contains("[tool.mypy")
            || self.setup_cfg.contains("[mypy")
        {
            Some(("mypy .", "configuration of mypy"))
        } else if self.tree.has("pyrightconfig.json") || self.pyproject.contains("[tool.pyright") {
            Some(("pyright", "configuration of pyright"))
        } else {
            None
        }
    }

    fn lint(&self) -> Option<(&'static str, &'static str)> {
        if self.tree.has("ruff.toml")
            || self.tree.has(".ruff.toml")
            || self.pyproject.contains("[tool.ruff")
        {
            Some(("ruff check .", "configuration of ruff"))
        } else if self.tree.has(".flake8") || self.setup_cfg.contains("[flake8]") {
            Some(("flake8", "configuration of flake8"))
        } else {
            None
        }
    }

    fn shows_pytest(&self) -> Option<&'static str> {
        if self.tree.has("pytest.ini")
            || self.pyproject.contains("[tool.pytest")
            || self.setup_cfg.contains("[tool:pytest]")
        {
            Some("configuration of pytest")
        } else if ["conftest.py", "tests/conftest.py", "test/conftest.py"]
            .iter()
            .any(|path| self.tree.has(path))
        {
            Some("conftest.py")
        } else {
            self.names("pytest")
                .then_some("pytest among the dependencies")
        }
    }

    fn test(&self, prefix: &str) -> Option<Proposed> {
        if let Some(why) = self.shows_pytest() {
            return Some(Proposed::new(format!("{prefix}pytest"), why));
        }
        if self.tree.has("tox.ini") {
            return Some(Proposed::new("tox", "tox.ini"));
        }
        let file = self.test_file()?;
        let python = if prefix.ends_with("-m ") {
            prefix.to_owned()
        } else {
            format!("{prefix}python -m ")
        };
        Some(Proposed::new(format!("{python}unittest discover"), file))
    }
}
