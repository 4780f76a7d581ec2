//! A runner's closing lines belong to no test: neither a report nor the next prompt may show them as
//! the last test's message.

use checks::results::{Format, read_results};

/// What the only test that failed says.
fn message(format: Format, output: &str) -> String {
    let results = read_results(format, output, None);
    let failed = results.tests.values().flatten();
    let messages: Vec<String> = failed.filter_map(|test| test.message.clone()).collect();
    assert!(messages.len() <= 1, "{messages:?}");
    messages.concat()
}

#[test]
fn a_runners_closing_lines_are_not_glued_to_the_last_failing_test() {
    for (format, output, expected) in [
        // node and tape: the plan and the counts come last.
        (
            Format::Tap,
            "TAP version 13\nok 1 - a\nnot ok 2 - b\n# expected 2, got 3\n1..2\n# tests 2\n# suites 0\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 0\n# duration_ms 111.7\n",
            "expected 2, got 3",
        ),
        // The plan comes first, so only their words tell the counts apart.
        (
            Format::Tap,
            "1..2\nok 1 - a\nnot ok 2 - b\n# expected 2, got 3\n\n# tests 2\n# pass  1\n# fail  1\n",
            "expected 2, got 3",
        ),
        (
            Format::Tap,
            "1..2\nok 1 - a\nnot ok 2 - b\n#   Failed test 'b'\n#   at t/a.t line 4.\n# Looks like you failed 1 test of 2.\n",
            "Failed test 'b'\n  at t/a.t line 4.",
        ),
        (
            Format::Tap,
            "1..2\nok 1 - a\nnot ok 2 - b\n# 2 tests, 1 failure\n# failed 1 of 2 tests\n# time=12.3ms\n",
            "",
        ),
        // A message may begin like a count.
        (
            Format::Tap,
            "1..1\nnot ok 1 - b\n# fail because 3 is odd\n# pass 2 to the function\n",
            "fail because 3 is odd\npass 2 to the function",
        ),
        (
            Format::Nextest,
            "        FAIL [   0.004s] (1/6) tiny tests::wrong\n  stderr ───\n    left 2, right 3\n\n  Cancelling due to test failure: 1 test still running\n        SLOW [> 60.000s] (─────────) tiny tests::slow\n        PASS [  61.000s] (2/6) tiny tests::slow\n────────────\n     Summary [  61.0s] 2/6 tests run: 1 passed, 1 failed, 0 skipped\n        FAIL [   0.004s] (1/6) tiny tests::wrong\nwarning: 4/6 tests were not run due to test failure\nerror: test run failed\n",
            "left 2, right 3",
        ),
        // go counts the lines after a panic to the test that was under way.
        (
            Format::GoJson,
            "{\"Action\":\"output\",\"Package\":\"x\",\"Test\":\"TestA\",\"Output\":\"panic: no luck\\n\"}\n{\"Action\":\"output\",\"Package\":\"x\",\"Test\":\"TestA\",\"Output\":\"FAIL\\tx\\t0.004s\\n\"}\n{\"Action\":\"output\",\"Package\":\"x\",\"Test\":\"TestA\",\"Output\":\"FAIL\\n\"}\n{\"Action\":\"output\",\"Package\":\"x\",\"Test\":\"TestA\",\"Output\":\"exit status 2\\n\"}\n{\"Action\":\"fail\",\"Package\":\"x\",\"Test\":\"TestA\"}\n{\"Action\":\"fail\",\"Package\":\"x\"}\n",
            "panic: no luck",
        ),
        (
            Format::Cargo,
            "     Running tests/a.rs (target/debug/deps/a-1)\n\nrunning 1 test\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nleft 2, right 3\n\n\nfailures:\n    b\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--test a`\n",
            "left 2, right 3",
        ),
    ] {
        assert_eq!(message(format, output), expected, "{output}");
    }
}
