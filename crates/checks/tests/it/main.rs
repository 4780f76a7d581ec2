//! What the crate does with outputs that real runners wrote, and with worse.

mod compare;
mod detect;
mod feedback;
mod fuzz;
mod instrument;
mod laws;
mod recorded;
mod rules;
mod surface;
