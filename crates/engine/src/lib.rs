//! Carries out what the kernel decides, and records what came of it.
//!
//! Everything that a worker knows is in the journal and in the files of the runs, so it may die at
//! any moment: the next one asks `decide` again, looks for what was already done, and goes on. It
//! decides nothing itself.

mod candidate;
mod credentials;
mod disk;
mod facts;
mod git_tree;
mod hands;
mod home;
mod landing;
mod loops;
mod measure;
mod moment;
mod prd_file;
mod progress;
mod protect;
mod requests;
mod retention;
mod role_settings;
mod rules;
mod runs;
mod scrap;
mod settings;
mod slots;
mod sweep;
mod task;
mod trees;
mod waker;
mod worker;
mod written;

pub use disk::{DiskUse, ENTRIES_MAX, disk_use};
pub use home::{Home, RunName};
pub use loops::{LoadError, Loaded, load};
pub use measure::measure;
pub use moment::moment;
pub use prd_file::{PrdFile, read_prd};
pub use progress::{Ended, progress};
pub use requests::{RequestError, request, start};
pub use retention::{Expiry, expiry};
pub use role_settings::{RoleSettings, Roles};
pub use roles::check_template;
pub use scrap::remove_folder;
pub use settings::{AgentSettings, CheckSettings, Policies, Policy, Settings};
pub use slots::{Busy, EFFECTS_PER_TURN_MAX, Limits, open_now};
pub use sweep::Swept;
pub use waker::wait_beside;
pub use worker::{Clock, CrashSwitch, Moment, Turn, Worker, WorkerError, now_ms};
