//! What a run met at the walls of its jail, from its keeper's record.

use kernel::{JailLimit, RefusedHost, Walls};
use sandbox::{ExitRecord, LimitHit, Refusal};

/// Hosts that are recorded of one run; the run's own file has more.
const REFUSED_MAX: usize = 20;

/// What a run met.
pub(crate) fn walls_of(exit: &ExitRecord) -> Walls {
    let refused = exit.refused.iter().take(REFUSED_MAX);
    Walls {
        limit: exit.limit.map(limit_of),
        refused: refused
            .map(|refused| RefusedHost {
                host: refused.host.clone(),
                port: refused.port,
                why: reason(refused.why).to_owned(),
            })
            .collect(),
    }
}

/// What a run that was ended by a limit is told, and whoever tries next.
pub(crate) fn limit_words(limit: LimitHit) -> String {
    let limit = limit_of(limit);
    let key = match limit {
        JailLimit::Memory => "memory_mb",
        JailLimit::Processes => "processes",
        JailLimit::Cpu => "cpu",
        JailLimit::OpenFiles => "open_files",
        JailLimit::Disk => "disk_mb",
        JailLimit::Requests => {
            return "it used up what the budget leaves for requests to the model".to_owned();
        }
    };
    format!(
        "it used more {} than the sandbox allows (`[sandbox] {key}`)",
        limit.word()
    )
}

fn limit_of(limit: LimitHit) -> JailLimit {
    match limit {
        LimitHit::Memory => JailLimit::Memory,
        LimitHit::Processes => JailLimit::Processes,
        LimitHit::Cpu => JailLimit::Cpu,
        LimitHit::OpenFiles => JailLimit::OpenFiles,
        LimitHit::Disk => JailLimit::Disk,
        LimitHit::Requests => JailLimit::Requests,
    }
}

fn reason(why: Refusal) -> &'static str {
    match why {
        Refusal::BadRequest => "not a request that is understood",
        Refusal::BadHost => "not a host's name",
        Refusal::IpLiteral => "an address instead of a name",
        Refusal::NotListed => "not on the list",
        Refusal::PrivateAddress => "a private address",
        Refusal::BadRoute => "no such way to a model",
        Refusal::OtherTlsName => "not the host that was asked for",
        Refusal::RequestsUsedUp => "what the budget leaves for the run is used up",
    }
}
