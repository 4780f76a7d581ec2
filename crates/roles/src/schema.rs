//! The JSON Schemas of what roles answer, for CLIs that take one. No flag is a promise: every
//! answer is read by us.

use kernel::Stage;

const VERDICT: &str = r#"{"type":"object","additionalProperties":false,"required":["verdict","commit","reason","criteria","guidance","obliged"],"properties":{"verdict":{"type":"string","enum":["PASS","FAIL"]},"commit":{"type":"string"},"reason":{"type":"string"},"criteria":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["criterion","pass","evidence"],"properties":{"criterion":{"type":"string"},"pass":{"type":"boolean"},"evidence":{"type":"string"}}}},"guidance":{"type":"array","items":{"type":"string"}},"obliged":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["id","criterion","why"],"properties":{"id":{"type":"string"},"criterion":{"type":"string"},"why":{"type":"string"}}}}}}"#;

const REVIEW: &str = r#"{"type":"object","additionalProperties":false,"required":["summary","criteria","findings"],"properties":{"summary":{"type":"string"},"criteria":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["criterion","tests","held_back","untestable","preserves"],"properties":{"criterion":{"type":"string"},"tests":{"type":"array","items":{"type":"string"}},"held_back":{"type":"array","items":{"type":"string"}},"untestable":{"type":["string","null"]},"preserves":{"type":"boolean"}}}},"findings":{"type":"array","items":{"type":"string"}}}}"#;

/// A prover may ask a person or teach later stories something in the same answer.
const PROOF: &str = r#"{"type":"object","additionalProperties":false,"required":["checked","found","mended","see","learned","question"],"properties":{"checked":{"type":"array","items":{"type":"string"}},"found":{"type":"array","items":{"type":"string"}},"mended":{"type":"array","items":{"type":"string"}},"see":{"type":"array","items":{"type":"string"}},"learned":{"type":"array","items":{"type":"string"}},"question":{"type":["string","null"]}}}"#;

const RULING: &str = r#"{"type":"object","additionalProperties":false,"required":["fresh_tests","reason"],"properties":{"fresh_tests":{"type":"boolean"},"reason":{"type":"string"}}}"#;

/// The schema of a stage's answer, where it must answer in JSON.
pub fn schema(stage: Stage) -> Option<&'static str> {
    match stage {
        Stage::WriteTests | Stage::Review => Some(REVIEW),
        Stage::Judge => Some(VERDICT),
        Stage::Arbitrate => Some(RULING),
        Stage::Prove => Some(PROOF),
        Stage::Baseline | Stage::Implement | Stage::Check | Stage::Confirm => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_json() {
        for stage in [
            Stage::WriteTests,
            Stage::Review,
            Stage::Prove,
            Stage::Judge,
            Stage::Arbitrate,
        ] {
            let schema: serde_json::Value =
                serde_json::from_str(schema(stage).expect("a schema")).expect("JSON");
            assert_eq!(schema["type"], "object");
        }
        assert_eq!(schema(Stage::Implement), None);
    }
}
