//! What a candidate's commit says, and whose it is. Everything comes from the order, so that doing
//! it again gives the same id.

use home::{CommitSettings, Settings, SubjectFacts, plain_line, subject};
use kernel::{AgentName, Credits, Flow, MakeCandidateOrder, Stage};
use workspace::Signature;

use crate::fault::Fault;

/// A commit's message and author.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommitWords {
    pub(crate) author: Signature,
    pub(crate) message: String,
}

pub(crate) fn commit_words(
    loop_id: &str,
    make: &MakeCandidateOrder,
    settings: &Settings,
) -> Result<CommitWords, Fault> {
    match (&settings.commit, &make.credits) {
        (Some(commit), Some(credits)) => configured(loop_id, make, settings, commit, credits),
        _ => Ok(CommitWords {
            author: Signature::ours(),
            message: early_message(loop_id, make),
        }),
    }
}

/// The message of loops that were started before it could be configured: a candidate that such a
/// loop had made when its worker died must get the same id again.
fn early_message(loop_id: &str, make: &MakeCandidateOrder) -> String {
    let (id, attempt) = (&make.story.id, make.place.run.attempt);
    let title = make.story.title.replace('\n', " ");
    let verified = if make.flow.has(Stage::Judge) {
        ""
    } else {
        "Verified: checks-only\n"
    };
    format!(
        "feat: [{loop_id}] [{id}] attempt-{attempt} — {title}\n\nLoop-Id: {loop_id}\n\
         Story-Id: {id}\nAttempt: {attempt}\n{verified}"
    )
}

fn configured(
    loop_id: &str,
    make: &MakeCandidateOrder,
    settings: &Settings,
    commit: &CommitSettings,
    credits: &Credits,
) -> Result<CommitWords, Fault> {
    let broken = |what: String| Fault::NeedsPerson {
        what,
        remedy: "correct it and give it to the loop with `loopwright resume --reload`".to_owned(),
    };
    let attempt = make.place.run.attempt;
    let facts = SubjectFacts {
        loop_id,
        story: &make.story.id,
        attempt,
        title: &make.story.title,
        agent: credits.implementor.as_deref().unwrap_or_default(),
    };
    let subject = subject(&commit.subject, &facts)
        .map_err(|error| broken(format!("[commit] subject cannot be used: {error}")))?;
    let author = match &commit.author {
        Some(author) => Signature::parse(author)
            .ok_or_else(|| broken(format!("[commit] author cannot be used: `{author}`")))?,
        None => Signature::ours(),
    };
    let mut trailers = vec![
        ("Loop-Id", loop_id.to_owned()),
        ("Story-Id", make.story.id.to_string()),
        ("Attempt", attempt.to_string()),
    ];
    let by = |key, agent: &Option<AgentName>| Some((key, agent.as_ref()?.to_string()));
    let person = credits.person.iter();
    trailers.extend(person.map(|person| ("Implemented-By", person.clone())));
    trailers.extend(by("Implemented-By", &credits.implementor));
    trailers.extend(by("Tests-By", &credits.tests));
    trailers.extend(by("Judged-By", &credits.judge));
    trailers.push(("Verified", verified(make.flow, !settings.checks.is_empty())));
    if commit.co_author {
        let named = co_authors(credits, settings);
        trailers.extend(named.into_iter().map(|name| ("Co-Authored-By", name)));
    }
    let signed = commit.signed_off_by.iter();
    trailers.extend(signed.map(|name| ("Signed-off-by", name.clone())));
    let whole_title = subject.whole_title.map(|title| format!("{title}\n\n"));
    // A value that had more lines than one could add trailers of its own.
    let line = |(key, value): &(&str, String)| format!("{key}: {}\n", plain_line(value));
    Ok(CommitWords {
        author,
        message: format!(
            "{}\n\n{}{}",
            subject.line,
            whole_title.unwrap_or_default(),
            trailers.iter().map(line).collect::<String>()
        ),
    })
}

/// Whose word lets the commit land. It is written before they speak, and it is true of every commit
/// that lands: without their word it does not.
fn verified(flow: Flow, has_checks: bool) -> String {
    if !flow.has(Stage::Judge) {
        // Nobody but the checks has the last word, and the commit says so.
        return "checks-only".to_owned();
    }
    let all = [
        ("checks", has_checks),
        ("reviewer", flow.has(Stage::Review)),
        ("prover", flow.has(Stage::Prove)),
        ("judge", true),
    ];
    let present = all.into_iter().filter(|(_, is_there)| *is_there);
    present.map(|(who, _)| who).collect::<Vec<_>>().join(", ")
}

/// The agents whose files are in the commit, each once.
fn co_authors(credits: &Credits, settings: &Settings) -> Vec<String> {
    let authors = [&credits.implementor, &credits.tests, &credits.prover];
    let mut names: Vec<String> = Vec::new();
    for agent in authors.into_iter().flatten() {
        let kind = settings
            .agents
            .get(agent.as_str())
            .map(home::AgentSettings::cli);
        let name = match kind {
            Some(agents::Kind::Claude) => "Claude <noreply@anthropic.com>".to_owned(),
            Some(agents::Kind::Codex) => "Codex <noreply@openai.com>".to_owned(),
            // An address that nobody can own, rather than one that might be somebody's.
            _ => match Signature::new(agent, "agent@localhost") {
                Some(name) => name.to_string(),
                None => continue,
            },
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What a loop of the first version has: settings and an order that know nothing of all this.
    fn early() -> (Value, Value) {
        let order = json!({
            "place": {
                "run": { "story": "one", "attempt": 2, "stage": "implement", "try_number": 1 },
                "story_number": 1, "checkout_try": 1,
            },
            "story": {
                "id": "one", "title": "A\ntitle", "description": "", "criteria": [], "rank": 0,
                "depends_on": [], "tool": null, "start": "open",
            },
            "flow": "solo", "base": "a".repeat(40), "planned_at_ms": 0, "tests": null, "rejected": [],
        });
        let settings = json!({
            "agents": {}, "checks": [], "check_timeout_secs": 1, "copy": [], "write_back": true,
            "subdir": "", "root": "", "prd_in_repository": null, "patterns": null,
        });
        (order, settings)
    }

    #[test]
    fn a_commit_of_an_early_loop_is_what_it_was() {
        let (order, settings) = early();
        let read = |order: &Value, settings: &Value| {
            let order = serde_json::from_value(order.clone()).expect("an order");
            let settings = serde_json::from_value(settings.clone()).expect("settings");
            commit_words("L", &order, &settings).expect("words")
        };
        let expected = CommitWords {
            author: Signature::ours(),
            message:
                "feat: [L] [one] attempt-2 — A title\n\nLoop-Id: L\nStory-Id: one\nAttempt: 2\n\
                      Verified: checks-only\n"
                    .to_owned(),
        };
        assert_eq!(read(&order, &settings), expected);
        // A new worker knows who implemented it, and the loop was not started with that.
        let mut credited = order.clone();
        credited["credits"] =
            json!({ "implementor": "codex", "tests": null, "prover": null, "judge": null });
        assert_eq!(read(&credited, &settings), expected);
        let mut configured = settings.clone();
        configured["commit"] = json!({ "subject": "{title} by {agent}" });
        assert_eq!(
            read(&credited, &configured).message,
            "A title by codex\n\nLoop-Id: L\nStory-Id: one\nAttempt: 2\nImplemented-By: codex\n\
             Verified: checks-only\n"
        );
    }

    #[test]
    fn a_commit_names_whose_word_lets_it_land() {
        for (flow, has_checks, expected) in [
            (Flow::Quartet, true, "checks, reviewer, judge"),
            (Flow::Tdd, false, "reviewer, judge"),
            (Flow::Proof, true, "checks, prover, judge"),
            (Flow::Judged, true, "checks, judge"),
            (Flow::Solo, true, "checks-only"),
        ] {
            assert_eq!(verified(flow, has_checks), expected);
        }
    }
}
