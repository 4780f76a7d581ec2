//! Events as people see them: a loop's status, and the public events that others may build on.
//!
//! Pure: a view is made from records and can be made again at any time. It decides nothing.

mod asked;
mod confined;
mod confirmation_events;
mod form;
mod landing_events;
mod loop_report;
mod loop_view;
mod moment;
mod public;
mod rejected_by;
mod report_types;
mod restacks;
mod root_cause;
mod steering_events;
mod story_report;
mod told;

pub use form::public_form;
pub use loop_report::{Caught, LoopReport, loop_report};
pub use loop_view::{
    LoopView, QuestionView, StoryView, UsedBy, WaitView, loop_view, was_sent_back,
};
pub use moment::iso;
pub use public::{PublicEvent, PublicFold, public_events};
pub use rejected_by::RejectedBy;
pub use report_types::{
    AnswerReport, AskedReport, AttemptReport, CriterionReport, ObligationReport, RestackReport,
    StoryReport,
};
pub use story_report::story_report;
