//! A line of shell for scripted judges, who must speak of every criterion that their prompt lists.

/// Gives the line that sets `CRITERIA` to the entries of a judge's answer, each met, for the
/// criteria of a prompt: standard input, or the file that is named.
///
/// It is a macro so that a script stays a constant.
#[macro_export]
macro_rules! criteria_of_prompt {
    () => {
        $crate::criteria_of_prompt!("")
    };
    ($file:literal) => {
        concat!(
            r#"CRITERIA=$(awk '/^## / { on = /^## Acceptance criteria/ } on && /^- / { gsub(/[\\"]/, "\\\\&"); printf "%s{\"criterion\": \"%s\", \"pass\": true, \"evidence\": \"seen\"}", comma, substr($0, 3); comma = ", " }' "#,
            $file,
            ")\n"
        )
    };
}
