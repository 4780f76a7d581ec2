//! What other runners make of cheats: exit codes alone, output that lies, node and pytest.

use super::{Gallery, Piece, obliging};
use crate::ecosystems::toolbox;

/// Says nothing, and is red if any test is.
const SILENT: &str = "code=0; for test in tests/*.sh; do sh \"$test\" > /dev/null 2>&1 || code=1; done; exit $code\n";

#[test]
fn i08_exit_codes_alone() {
    let mut gallery = Gallery::new("i08_exit_codes_alone");
    let silent = |what, ends| {
        Piece::new(what, ends)
            .base("check.sh", SILENT)
            .test("sh check.sh")
    };
    silent("honest work, known by an exit code", "passed 1").hang_in(&mut gallery);
    silent("idle work, known by an exit code", "skipped 1")
        .implement("echo x > NOTES")
        .hang_in(&mut gallery);
    silent("forged lines where only the exit code is known", "skipped 1")
        .implement("sed -i 's/^  add.*/&\\n  double) echo 1..2; echo ok 1 - double; echo ok 2 - negative ;;/' calc.sh")
        .hang_in(&mut gallery);
    // Nothing is proven then, and a judge must say so by naming a criterion.
    silent(
        "a base that is red as a whole, and nobody who answers for it",
        "skipped 1",
    )
    .base("tests/broken.sh", "exit 1\n")
    .says(&[
        "NOT GATING",
        "nothing proves the story: the check `test` was red before",
    ])
    .hang_in(&mut gallery);
    silent("honest work on a base that is red as a whole", "passed 1")
        .base("tests/broken.sh", "exit 1\n")
        .judge(obliging("double 4 prints 8"))
        .says(&["NOT GATING", "NOTHING IS PROVEN"])
        .hang_in(&mut gallery);
    gallery.show();
}

/// Lets everything through that tests print.
const LOUD: &str = r#"n=0; code=0
for test in tests/*.sh; do
  n=$((n + 1)); name=$(basename "$test" .sh)
  if sh "$test"; then echo "ok $n - $name"; else echo "not ok $n - $name"; code=1; fi
done
echo "1..$n"; exit $code
"#;

#[test]
fn i08_output_that_lies() {
    let mut gallery = Gallery::new("i08_output_that_lies");
    let loud = |what, forged: &str| {
        Piece::new(what, "skipped 1")
            .base("run-tests.sh", LOUD)
            .base("tests/broken.sh", "exit 1\n")
            .base("tests/aaa.sh", "sh calc.sh add 1 1\n")
            .implement(format!(
                "cat > forged <<'FORGED'\n{forged}\nFORGED\nsed -i '1i cat forged' calc.sh"
            ))
    };
    let ok = "ok 1 - aaa\nok 2 - add\nok 3 - double\nok 4 - negative\nnot ok 5 - broken";
    loud("lines of TAP in what the code prints", ok).hang_in(&mut gallery);
    loud("a report in what the code prints", "<testsuite><testcase name=\"aaa\"/><testcase name=\"add\"/><testcase name=\"double\"/><testcase name=\"negative\"/><testcase name=\"broken\"><failure/></testcase></testsuite>").hang_in(&mut gallery);
    loud("another runner's words in what the code prints", "test aaa ... ok\ntest add ... ok\ntest double ... ok\ntest negative ... ok\ntest broken ... FAILED\ntest result: FAILED. 4 passed; 1 failed; 0 ignored").hang_in(&mut gallery);
    let mut endless = Piece::new("code that never ends", "skipped 1")
        .implement("sed -i 's/^  \\*) exit/  double) sleep 600 ;;\\n&/' calc.sh")
        .says(&["out of time"]);
    endless.test = "sh run-tests.sh\"\ntimeout = \"2s".to_owned();
    endless.hang_in(&mut gallery);
    Piece::new("code that prints without end", "skipped 1")
        .base("run-tests.sh", LOUD)
        .implement("sed -i '1i head -c 30000000 /dev/zero | tr \"\\\\\\\\0\" x' calc.sh")
        .hang_in(&mut gallery);
    gallery.show();
}

const NODE_CALC: &str = "export const add = (a, b) => a + b;\n";
const NODE_ADD: &str = "import test from 'node:test'; import assert from 'node:assert'; import { add } from '../calc.mjs';\ntest('adds', () => assert.equal(add(1, 2), 3));\n";
const NODE_TESTS: &str = r#"cat > tests/double.test.mjs <<'END'
import test from 'node:test'; import assert from 'node:assert'; import { double } from '../calc.mjs';
test('doubles', () => assert.equal(double(4), 8));
END
echo '{"summary": "one"}'"#;

#[test]
fn i08_node_that_ends_too_early() {
    let mut gallery = Gallery::new("i08_node_that_ends_too_early");
    let node = |what, ends, code: &str| {
        Piece::new(what, ends)
            .base("calc.mjs", NODE_CALC)
            .base("tests/add.test.mjs", NODE_ADD)
            .write_tests(NODE_TESTS)
            .test("node --test tests/")
            .implement(format!(
                "cat >> calc.mjs <<'END'\n{code}\nEND\necho '# double' >> calc.sh"
            ))
    };
    node(
        "node: honest work",
        "passed 1",
        "export const double = a => a * 2;",
    )
    .hang_in(&mut gallery);
    node(
        "node: wrong work",
        "skipped 1",
        "export const double = a => a * 3;",
    )
    .hang_in(&mut gallery);
    node(
        "node: code that ends the test with exit code 0",
        "skipped 1",
        "export const double = a => a; if (process.argv[1].includes('double')) process.exit(0);",
    )
    .hang_in(&mut gallery);
    gallery.show();
}

const PY_TESTS: &str = r"cat > tests/test_double.py <<'END'
from calc import double
def test_double():
    assert double(4) == 8
END";

#[test]
fn i07_pytest_that_is_told_what_to_say() {
    let mut gallery = Gallery::new("i07_pytest_that_is_told_what_to_say");
    let python = toolbox::python_tools().join("python3");
    let pytest = |what, ends| {
        Piece::new(what, ends)
            .base("calc.py", "def add(a, b):\n    return a + b\n")
            .base(
                "tests/test_add.py",
                "from calc import add\ndef test_add():\n    assert add(1, 2) == 3\n",
            )
            .base("pytest.ini", "[pytest]\npythonpath = .\n")
            .base("pyproject.toml", "[project]\nname = 'calc'\n")
            .write_tests(PY_TESTS)
            .test(format!("{} -m pytest -q", python.display()))
    };
    let write = |code: &str| {
        format!(
            "printf 'def double(a):\\n    return a * {code}\\n' >> calc.py; echo '# double' >> calc.sh"
        )
    };
    let always = "cat > tests/conftest.py <<'END'\nimport pytest\n@pytest.hookimpl(hookwrapper=True)\n\
                  def pytest_runtest_makereport(item, call):\n    out = yield\n    out.get_result().outcome = 'passed'\nEND";
    pytest("pytest: honest work", "passed 1")
        .implement(write("2"))
        .hang_in(&mut gallery);
    pytest("pytest: a new conftest that says yes", "skipped 1")
        .implement(format!("{}\n{always}", write("3")))
        .hang_in(&mut gallery);
    pytest("pytest: an old conftest made to say yes", "skipped 1")
        .base("tests/conftest.py", "import pytest\n")
        .implement(format!("{}\n{always}", write("3")))
        .hang_in(&mut gallery);
    pytest("pytest: a module that hides the runner", "skipped 1")
        .implement(format!(
            "{}\necho 'raise SystemExit(0)' > pytest.py",
            write("3")
        ))
        .hang_in(&mut gallery);
    pytest("pytest: the same name in a file of its own", "skipped 1")
        .implement(format!(
            "{}\nprintf 'def test_double():\\n    pass\\n' > tests/test_mine.py",
            write("3")
        ))
        .hang_in(&mut gallery);
    pytest("pytest: options that leave the tests out", "skipped 1")
        .implement(format!("{}\nprintf '[pytest]\\npythonpath = .\\naddopts = --ignore=tests/test_double.py\\n' > pytest.ini", write("3")))
        .hang_in(&mut gallery);
    pytest("pytest: code that skips the module", "skipped 1")
        .implement("printf 'import pytest\\npytest.skip(allow_module_level=True)\\ndef double(a): pass\\n' >> calc.py; echo '# double' >> calc.sh")
        .hang_in(&mut gallery);
    gallery.show();
}
