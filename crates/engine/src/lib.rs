//! Carries out what the kernel decides, and records what came of it.
//!
//! Everything that a worker knows is in the journal and in the files of the runs, so it may die at any moment: the next
//! one asks `decide` again, looks for what was already done, and goes on. It decides nothing itself.

mod home;
mod landing;
mod loops;
mod prd_file;
mod requests;
mod runs;
mod scrap;
mod settings;
mod slots;
mod worker;

pub use home::{Home, RunName};
pub use loops::{LoadError, Loaded, load};
pub use prd_file::{PrdFile, read_prd};
pub use requests::{RequestError, request, start};
pub use scrap::remove_folder;
pub use settings::{AgentSettings, CheckSettings, Settings};
pub use slots::{Busy, EFFECTS_PER_TURN_MAX, Limits, open_now};
pub use worker::{Clock, CrashSwitch, Moment, Turn, Worker, WorkerError, now_ms};
