//! The work of a check's own process: reads a plan, carries it out, writes what was found.

use std::fs;
use std::path::Path;

use super::command::Commands;
use super::lane::Lane;
use super::meter::{Meter, SecondLook, write_atomically};
use super::probe::probe;
use super::warm_state::Warmth;
use crate::fault::Fault;
use crate::local::repository::open_at;
use crate::ports::Repository;
use crate::run::measurement::{CheckPlan, PLAN_FILE, QUESTION_FILE, REPORT_FILE, Report};
use crate::run::roots::Roots;

/// Takes a place for the trees. Where there is no room for them, what was kept to build faster goes first.
fn take_lane<'a>(plan: &CheckPlan, repository: &'a dyn Repository) -> Result<Lane<'a>, Fault> {
    match Lane::take(&plan.lanes, repository) {
        Err(Fault::DiskFull) => {
            Lane::give_up_racks(&plan.lanes);
            if let Some(warm) = &plan.warm {
                Roots::at(&warm.roots).give_up();
            }
            Lane::take(&plan.lanes, repository)
        }
        taken => taken,
    }
}

/// Carries out the plan of a run's folder. What only a person can mend is left there as a question.
pub fn measure(run_folder: &Path, program: &Path) -> Result<(), Fault> {
    let measured = measure_in(run_folder, program);
    if let Some(question) = measured.as_ref().err().and_then(Fault::question) {
        write_atomically(&run_folder.join(QUESTION_FILE), question.as_bytes())?;
    }
    measured
}

fn measure_in(run_folder: &Path, program: &Path) -> Result<(), Fault> {
    let path = run_folder.join(PLAN_FILE);
    let text = fs::read(&path).map_err(|error| Fault::io("read", &path, error))?;
    let mut plan: CheckPlan = serde_json::from_slice(&text)?;
    // All commands of a run have the run's ports, whatever tree they look at.
    if let Ok(base) = std::env::var(sandbox::PORT_BASE_VARIABLE) {
        let name = sandbox::PORT_BASE_VARIABLE.to_owned();
        plan.env.insert(name, base);
    }
    // First of all: a process that has threads cannot. Where it fails, trees are checked out.
    let store = plan.store.as_deref();
    let store = store.filter(|_| sandbox::enter_namespace().is_ok());
    let repository = open_at(&plan.repository)?;
    fs::create_dir_all(&plan.cache).map_err(|error| Fault::io("make", &plan.cache, error))?;
    let lane = take_lane(&plan, &*repository)?;
    let mut meter = Meter {
        commands: Commands {
            plan: &plan,
            repository: &*repository,
            run_folder,
            program,
            lane: &lane,
            store,
            wall_secs: None,
            n_run: 0,
        },
        report: Report::default(),
        warmth: Warmth::Unknown,
        is_tried: false,
        root: None,
        second_look: SecondLook::None,
    };
    meter.measure_all()?;
    probe(&mut meter)?;
    if meter.has_doubts_over_a_root() {
        meter.forget_root("what makes a measurement doubtful is looked at from nothing");
        probe(&mut meter)?;
    }
    let report = serde_json::to_vec(&meter.report)?;
    write_atomically(&run_folder.join(REPORT_FILE), &report)
}
