//! What the crate does with outputs that real runners wrote, and with worse.

#![expect(
    clippy::too_many_lines,
    reason = "a table of cases does not get harder to read as it grows"
)]

mod closing;
mod compare;
mod detect;
mod feedback;
mod fuzz;
mod instrument;
mod laws;
mod recorded;
mod rules;
mod surface;
