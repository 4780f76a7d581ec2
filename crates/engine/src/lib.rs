//! Carries out what the kernel decides, and records what came of it.
//!
//! Everything that a worker knows is in the journal and in the files of the runs, so it may die at any moment: the next
//! one asks `decide` again, looks for what was already done, and goes on. It decides nothing itself.

mod disk;
mod home;
mod landing;
mod loops;
mod moment;
mod prd_file;
mod progress;
mod requests;
mod retention;
mod role_settings;
mod runs;
mod scrap;
mod settings;
mod sweep;
mod worker;

pub use disk::{DiskUse, ENTRIES_MAX, disk_use};
pub use home::{Home, RunName};
pub use loops::{LoadError, Loaded, load};
pub use moment::moment;
pub use prd_file::{PrdFile, read_prd};
pub use progress::{Ended, progress};
pub use requests::{RequestError, request, start};
pub use retention::{Expiry, expiry};
pub use role_settings::{RoleSettings, Roles};
pub use scrap::remove_folder;
pub use settings::{AgentSettings, CheckSettings, Settings};
pub use sweep::Swept;
pub use worker::{Clock, CrashSwitch, Moment, Turn, Worker, WorkerError, now_ms};
