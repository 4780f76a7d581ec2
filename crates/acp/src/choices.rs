//! What an agent lets its client choose for a session: mode, model and effort. Agents offer these
//! either as options of the session or as the older lists of modes and models.
//!
//! The answers are read as plain JSON, because the protocol crate's types know only the options.

use serde_json::{Value, json};

/// The modes in which the tried agents do not ask for permission. An agent without one of them
/// asks, and is allowed.
const FREE_MODES: [&str; 3] = ["bypassPermissions", "yolo", "agent-full-access"];

/// Something that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Mode,
    Model,
    Effort,
}

/// The request that makes a choice.
#[derive(Debug, PartialEq)]
pub(crate) struct Order {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
}

/// The error for a value that cannot be chosen: the values that can.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotOffered {
    pub(crate) offered: Vec<String>,
}

/// What an agent offers for a session that it opened.
pub(crate) struct Offer<'a> {
    pub(crate) session: &'a str,
    /// The agent's answer to the request that opened the session.
    pub(crate) answer: &'a Value,
}

impl Offer<'_> {
    /// The mode in which the agent does not ask for permission, if it has one.
    pub(crate) fn free_mode(&self) -> Option<&'static str> {
        let offered = self.values(Choice::Mode);
        FREE_MODES
            .into_iter()
            .find(|mode| offered.iter().any(|value| value == mode))
    }

    /// The request that chooses a value, or `None` if it is already chosen.
    pub(crate) fn choose(&self, choice: Choice, value: &str) -> Result<Option<Order>, NotOffered> {
        if self.current(choice).as_deref() == Some(value) {
            return Ok(None);
        }
        let offered = self.values(choice);
        // Agents differ in what they do with an unknown value, so it is refused here.
        if !offered.iter().any(|one| one == value) {
            return Err(NotOffered { offered });
        }
        let session = self.session;
        let order = match self.option(choice) {
            Some(option) => Order {
                method: "session/set_config_option",
                params: json!({ "sessionId": session, "configId": option["id"], "value": value }),
            },
            // Without an option, only modes and models have values, so only they get here.
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

    /// The value that is chosen now.
    pub(crate) fn current(&self, choice: Choice) -> Option<String> {
        let value = match (self.option(choice), choice) {
            (Some(option), _) => &option["currentValue"],
            (None, Choice::Mode) => &self.answer["modes"]["currentModeId"],
            (None, Choice::Model) => &self.answer["models"]["currentModelId"],
            (None, Choice::Effort) => return None,
        };
        value.as_str().map(str::to_owned)
    }

    /// The session option for a choice. Options are found by category, because their ids differ
    /// between agents.
    fn option(&self, choice: Choice) -> Option<&Value> {
        let category = match choice {
            Choice::Mode => "mode",
            Choice::Model => "model",
            Choice::Effort => "thought_level",
        };
        self.answer["configOptions"]
            .as_array()?
            .iter()
            .find(|option| option["category"] == category && option["type"] == "select")
    }

    fn values(&self, choice: Choice) -> Vec<String> {
        match (self.option(choice), choice) {
            (Some(option), _) => {
                // Some agents put their values into groups.
                let grouped = items(&option["options"])
                    .iter()
                    .flat_map(|group| texts(&group["options"], "value"));
                texts(&option["options"], "value")
                    .into_iter()
                    .chain(grouped)
                    .collect()
            }
            (None, Choice::Mode) => texts(&self.answer["modes"]["availableModes"], "id"),
            (None, Choice::Model) => texts(&self.answer["models"]["availableModels"], "modelId"),
            (None, Choice::Effort) => Vec::new(),
        }
    }
}

/// The text under a key of each item of a list.
fn texts(list: &Value, key: &str) -> Vec<String> {
    items(list)
        .iter()
        .filter_map(|item| item[key].as_str().map(str::to_owned))
        .collect()
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(answer: &Value, choice: Choice, value: &str) -> String {
        let offer = Offer {
            session: "s",
            answer,
        };
        match offer.choose(choice, value) {
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
        for (answer, choice, value, expected) in [
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
            assert_eq!(shown(answer, choice, value), expected, "{choice:?} {value}");
        }
    }
}
