//! A Python project with pytest, ruff and mypy and without a `.gitignore`, in which one test was
//! red before.

use super::{Project, Story, toolbox};
use crate::sample::sample;

const SOURCE: &str = "def total(values: list[int]) -> int:\n    return sum(values)\n";

const OLD_TEST: &str = "from tally import total\n\n\ndef test_total() -> None:\n    assert total([1, 2]) == 3\n\n\n\
                        def test_negative() -> None:\n    assert total([1, -3]) == -2\n";

const RED_TEST: &str =
    "from tally import total\n\n\ndef test_long_red() -> None:\n    assert total([]) == 1\n";

const PYPROJECT: &str = "[project]\nname = \"tally\"\nversion = \"1.0\"\n\n[tool.pytest.ini_options]\npythonpath = [\".\"]\n\n\
                         [tool.ruff]\nline-length = 100\n\n[tool.mypy]\nstrict = true\n";

const CHECKS: &str = "typecheck = \"mypy .\"\nlint = \"ruff check .\"\ntest = \"python -m pytest\"\nsetup = \"python --version\"";

/// The agent runs what a careful agent runs; the caches of all that must not become part of its
/// work.
const MEDIAN: &str = r"cat >> tally.py <<'CODE'


def median(values: list[int]) -> int:
    return sorted(values)[len(values) // 2]
CODE
python -m pytest -q; ruff check .; mypy .; true";

const MEDIAN_TESTS: &str = r"cat > tests/test_median.py <<'CODE'
import pytest

from tally import median


@pytest.mark.parametrize('values', [[3, 1, 2], [2]])
def test_median(values: list[int]) -> None:
    assert median(values) == 2
CODE";

const SHADOW: &str = r"cat > pytest.py <<'CODE'
import sys

sys.exit(0)
CODE
echo '# soon' >> tally.py";

const ABSOLUTE: &str = "sed -i 's/sum(values)/sum(abs(value) for value in values)/' tally.py\n\
    sed -i 's/^def test_negative/@pytest.mark.xfail\\n&/; 1i import pytest\\n' tests/test_tally.py";

const ABSOLUTE_TESTS: &str = r"cat > tests/test_absolute.py <<'CODE'
from tally import total


def test_signs_do_not_count() -> None:
    assert total([-1, -1, 2]) == 4
CODE";

pub(super) fn a_python_project() {
    let files = [
        ("pyproject.toml", PYPROJECT),
        ("tally.py", SOURCE),
        ("tests/test_tally.py", OLD_TEST),
        ("tests/test_red.py", RED_TEST),
    ];
    let story = |id, criterion, implement: &str, write_tests: &str, tests| Story {
        id,
        criterion,
        implement: implement.to_owned(),
        write_tests: write_tests.to_owned(),
        tests,
    };
    let project = Project::new("python", &files, CHECKS).with_programs(toolbox::python_tools());
    let stories = [
        story(
            "median",
            "there is a median",
            MEDIAN,
            MEDIAN_TESTS,
            &["test_median"],
        ),
        story(
            "shadow",
            "signs do not count",
            SHADOW,
            ABSOLUTE_TESTS,
            &["test_signs_do_not_count"],
        ),
        story(
            "absolute",
            "signs never count",
            ABSOLUTE,
            ABSOLUTE_TESTS,
            &["test_signs_do_not_count"],
        ),
    ];
    let stories = sample("python", &stories);
    let played = project.play(&stories);
    for story in &stories {
        let report = played.story(story.id);
        match story.id {
            "median" => report
                .passed(&["test_median[values0]", "test_median[values1]"], true, 4)
                .says(&["red before the story and red now: test_long_red"]),
            "shadow" => report.refused(&[
                "`pytest.py`",
                "it would run instead of something that a check means",
                "new and red: test_signs_do_not_count",
            ]),
            _ => report
                .obliged(&["test_negative"])
                .refused(&["the implementor changed the existing test file `tests/test_tally.py`"]),
        };
    }
    if stories.iter().all(|story| story.id != "median") {
        return assert_eq!(played.branches(), "", "nothing landed");
    }
    assert_eq!(played.landed(), ["median"]);
    let files = [
        "prd.json",
        "pyproject.toml",
        "tally.py",
        "tests/test_median.py",
        "tests/test_red.py",
        "tests/test_tally.py",
    ];
    assert_eq!(played.files(), files);
}
