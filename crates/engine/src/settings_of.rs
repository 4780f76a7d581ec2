//! The settings that an order carries.

use home::Settings;
use kernel::Order;

use crate::fault::Fault;

/// Reads the settings of an order. The journal holds them, so damage there is for a person.
pub(crate) fn settings_of(order: &Order) -> Result<Settings, Fault> {
    serde_json::from_str(&order.settings).map_err(|error| Fault::NeedsPerson {
        what: format!("the loop's settings cannot be read: {error}"),
        remedy: "give it new ones with `loopwright resume --reload`".to_owned(),
    })
}
