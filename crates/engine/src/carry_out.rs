//! The one table from orders to what carries them out.

use kernel::{Deed, Event, Order};

use crate::fault::Fault;
use crate::orders::announce::{Landed, announce};
use crate::orders::end::end;
use crate::orders::integrate::{BranchMove, integrate};
use crate::orders::make_accepted::make_accepted;
use crate::orders::make_candidate::make_candidate;
use crate::orders::make_tests::make_tests;
use crate::orders::prepare::prepare;
use crate::orders::publish::publish;
use crate::orders::restack::restack;
use crate::orders::retract::retract;
use crate::orders::run::{end_by_fault, see_to_run};
use crate::orders::skip::{GivenUp, skip};
use crate::orders::stop_run::stop_run;
use crate::ports::Ports;

/// Carries out an order. The event is what came of it, and none means that there is nothing to
/// record yet. It may be done twice, by different processes, with the same result.
pub fn carry_out(order: &Order, ports: &Ports) -> Result<Option<Event>, Fault> {
    match &order.deed {
        Deed::Plan(_) | Deed::StartRun { .. } | Deed::Block { .. } => Ok(order.deed.decision()),
        Deed::Wait(wait) => Ok(wait.event((ports.clock)())),
        Deed::Prepare { base } => prepare(order, base, ports).map(Some),
        // A run that cannot be seen to has ended, one way or another.
        Deed::Run(run) => see_to_run(order, run, ports)
            .or_else(|fault| end_by_fault(run, &fault).map(Some).ok_or(fault)),
        Deed::StopRun(stop) => stop_run(order, stop, ports),
        Deed::MakeTests(make) => make_tests(order, make, ports).map(Some),
        Deed::MakeCandidate(make) => make_candidate(order, make, ports).map(Some),
        Deed::MakeAccepted(owed) => make_accepted(order, owed, ports).map(Some),
        Deed::Restack(owed) => restack(order, owed, ports).map(Some),
        Deed::Integrate {
            story,
            attempt,
            branch,
            from,
            base,
            to,
        } => {
            let branch = BranchMove {
                branch,
                from,
                base,
                to,
            };
            integrate(order, story, *attempt, &branch, ports).map(Some)
        }
        Deed::Retract(owed) => retract(order, owed, ports).map(Some),
        Deed::Announce {
            story,
            title,
            attempts,
            branch,
            published,
            to,
            prd_path,
            taught,
        } => {
            let landed = Landed {
                story,
                title,
                attempts: *attempts,
                branch,
                published: published.as_ref(),
                to,
                prd_path,
                taught,
            };
            announce(order, &landed, ports).map(Some)
        }
        Deed::Publish(owed) => publish(order, owed, ports).map(Some),
        Deed::Skip {
            story,
            attempts,
            reason,
            prd_path,
            taught,
        } => {
            let given_up = GivenUp {
                story,
                attempts: *attempts,
                reason,
                prd_path,
                taught,
            };
            skip(order, &given_up, ports).map(Some)
        }
        Deed::End { reason } => Ok(Some(end(order, reason, ports))),
    }
}
