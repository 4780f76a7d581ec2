//! The reader from outside: real files, hand-made cases, hostile bytes, generated files.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::too_many_lines, reason = "tables of cases are long")]

mod canonical;
mod cases;
mod corpus;
mod fuzz;
mod hostile;
mod marks;
mod orders;
mod plans;
mod progress;
mod property;
mod shapes;
mod support;
