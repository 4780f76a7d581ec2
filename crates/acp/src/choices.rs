//! What an agent lets its client choose for a session, in the two ways that agents have for it:
//! options of the session, and the older lists of modes and models.

use serde_json::{Value, json};

/// Modes in which the agents that were tried ask nobody. An agent without one of them asks, and is
/// allowed.
const FREE_MODES: [&str; 3] = ["bypassPermissions", "yolo", "agent-full-access"];

/// A kind of choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Mode,
    Model,
    Effort,
}

/// A request that makes a choice.
#[derive(Debug, PartialEq)]
pub(crate) struct Order {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
}

/// Says why a value cannot be chosen.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotOffered {
    pub(crate) offered: Vec<String>,
}

/// What an agent told of a session that it opened.
pub(crate) struct Offer<'a> {
    pub(crate) session: &'a str,
    pub(crate) told: &'a Value,
}

impl Offer<'_> {
    /// The mode in which it asks nobody, if it has one.
    pub(crate) fn free_mode(&self) -> Option<&'static str> {
        let offered = self.values(Choice::Mode);
        FREE_MODES
            .into_iter()
            .find(|mode| offered.iter().any(|value| value == mode))
    }

    /// How to choose a value; nothing where it is chosen already.
    pub(crate) fn choose(&self, choice: Choice, value: &str) -> Result<Option<Order>, NotOffered> {
        if self.current(choice).as_deref() == Some(value) {
            return Ok(None);
        }
        let offered = self.values(choice);
        if !offered.iter().any(|one| one == value) {
            return Err(NotOffered { offered });
        }
        let session = self.session;
        let order = match self.option(choice) {
            Some(option) => Order {
                method: "session/set_config_option",
                params: json!({ "sessionId": session, "configId": option["id"], "value": value }),
            },
            None if choice == Choice::Mode => Order {
                method: "session/set_mode",
                params: json!({ "sessionId": session, "modeId": value }),
            },
            None => Order {
                method: "session/set_model",
                params: json!({ "sessionId": session, "modelId": value }),
            },
        };
        Ok(Some(order))
    }

    /// What is chosen now.
    pub(crate) fn current(&self, choice: Choice) -> Option<String> {
        let value = match (self.option(choice), choice) {
            (Some(option), _) => &option["currentValue"],
            (None, Choice::Mode) => &self.told["modes"]["currentModeId"],
            (None, Choice::Model) => &self.told["models"]["currentModelId"],
            (None, Choice::Effort) => return None,
        };
        value.as_str().map(str::to_owned)
    }

    fn option(&self, choice: Choice) -> Option<&Value> {
        let category = match choice {
            Choice::Mode => "mode",
            Choice::Model => "model",
            Choice::Effort => "thought_level",
        };
        let is_of = |option: &&Value| option["category"] == category && option["type"] == "select";
        self.told["configOptions"].as_array()?.iter().find(is_of)
    }

    fn values(&self, choice: Choice) -> Vec<String> {
        let of = |list: &Value, key: &str| -> Vec<String> {
            let items = list.as_array().map_or(&[][..], Vec::as_slice);
            items
                .iter()
                .filter_map(|item| item[key].as_str().map(str::to_owned))
                .collect()
        };
        match (self.option(choice), choice) {
            (Some(option), _) => {
                // Some put their values into groups.
                let items = option["options"].as_array().map_or(&[][..], Vec::as_slice);
                let grouped = items.iter().flat_map(|item| of(&item["options"], "value"));
                of(&option["options"], "value")
                    .into_iter()
                    .chain(grouped)
                    .collect()
            }
            (None, Choice::Mode) => of(&self.told["modes"]["availableModes"], "id"),
            (None, Choice::Model) => of(&self.told["models"]["availableModels"], "modelId"),
            (None, Choice::Effort) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(told: &Value, choice: Choice, value: &str) -> String {
        match (Offer { session: "s", told }).choose(choice, value) {
            Ok(Some(order)) => format!("{} {}", order.method, order.params),
            Ok(None) => "nothing".to_owned(),
            Err(NotOffered { offered }) => format!("not among {offered:?}"),
        }
    }

    #[test]
    fn a_value_is_chosen_by() {
        let listed = json!({
            "modes": { "currentModeId": "default", "availableModes": [{ "id": "default" }, { "id": "yolo" }] },
            "models": { "currentModelId": "a", "availableModels": [{ "modelId": "a" }, { "modelId": "b" }] },
        });
        let group = json!({ "group": "g", "options": [{ "value": "c" }] });
        let options = json!({ "configOptions": [
            { "id": "m", "category": "model", "type": "select", "currentValue": "a", "options": [{ "value": "b" }, group] },
            { "id": "e", "category": "thought_level", "type": "select", "currentValue": "low", "options": [{ "value": "high" }] },
        ] });
        for (told, choice, value, expected) in [
            (
                &listed,
                Choice::Mode,
                "yolo",
                r#"session/set_mode {"sessionId":"s","modeId":"yolo"}"#,
            ),
            (&listed, Choice::Model, "a", "nothing"),
            (
                &listed,
                Choice::Model,
                "b",
                r#"session/set_model {"sessionId":"s","modelId":"b"}"#,
            ),
            (&listed, Choice::Model, "z", r#"not among ["a", "b"]"#),
            (&listed, Choice::Effort, "high", "not among []"),
            (
                &options,
                Choice::Model,
                "c",
                r#"session/set_config_option {"sessionId":"s","configId":"m","value":"c"}"#,
            ),
            (
                &options,
                Choice::Effort,
                "high",
                r#"session/set_config_option {"sessionId":"s","configId":"e","value":"high"}"#,
            ),
            (&Value::Null, Choice::Mode, "yolo", "not among []"),
        ] {
            assert_eq!(shown(told, choice, value), expected, "{choice:?} {value}");
        }
    }
}
