//! Makes a PRD of a plan in Markdown.

use crate::change::ChangeKind;
use crate::diagnostic::Diagnostic;
use crate::limits::{SPLIT, STORIES_MAX, grouped};
use crate::parse::Piece;
use crate::plan::{Made, Plan, PlanStory, Reference};
use crate::read::fields::Wanted;
use crate::read::relate::{Surroundings, Unknown, relate};
use crate::read::story::Draft;
use crate::read::{Context, ReadOnly};
use crate::source::{Sources, Span};
use crate::story::{Criterion, Prd, Story, StoryId};

/// Reads a plan into a PRD, or reports why there is none.
pub(super) fn read(sources: &Sources, context: &mut Context<'_>) -> Option<Prd> {
    let source = sources.files().first()?;
    let piece = Piece::whole(source, 0);
    let plan = Plan::of(piece.text, piece.base, source.name());
    if let Some(over) = plan.over {
        let at = Span::new(0, over.start, over.end);
        let what = "too many stories in one PRD";
        let limit = grouped(STORIES_MAX);
        let found = Diagnostic::limit_exceeded(what, &limit, Some(at), SPLIT);
        context.complaints.push(found);
        return None;
    }
    let Some(first) = plan.stories.first() else {
        context.complaints.push(nothing_found(piece));
        return None;
    };
    context.changed(place(first), ChangeKind::PlanRead(plan.how));
    if plan.holds_no_state() {
        context.read_only = Some(ReadOnly::NoState);
    }
    let Plan {
        stories,
        ids,
        made,
        title,
        description,
        ..
    } = plan;
    let drafts = stories
        .into_iter()
        .zip(ids.into_iter().zip(made))
        .map(|(story, (id, made))| draft(story, id, made, context))
        .collect();
    let surroundings = Surroundings {
        unknown: Unknown::Outside,
        ..Surroundings::default()
    };
    let (stories, outside) = relate(drafts, &surroundings, context);
    Some(Prd {
        title,
        description,
        stories,
        outside,
        ..Prd::default()
    })
}

fn place(story: &PlanStory) -> Span {
    Span::new(0, story.at.start, story.at.end)
}

fn draft(story: PlanStory, id: StoryId, made: Made, context: &mut Context<'_>) -> Draft {
    let at = place(&story);
    match made {
        Made::Given => {}
        Made::FromTitle => context.changed(at, ChangeKind::IdFromTitle(id.as_str().into())),
        Made::Again => context.changed(at, ChangeKind::IdTaken(id.as_str().into())),
    }
    let title = if story.title.trim().is_empty() {
        id.as_str().to_owned()
    } else {
        story.title
    };
    let mut criteria = story.criteria;
    if criteria.is_empty() {
        context.changed(at, ChangeKind::CriteriaFrom("its title"));
        criteria.push(title.clone());
    }
    let plain = |text: String| Criterion {
        text,
        command: None,
    };
    let wanted = |list: Vec<Reference>| {
        let one = |(id, at): Reference| Wanted {
            id,
            at: Span::new(0, at.start, at.end),
        };
        list.into_iter().map(one).collect()
    };
    Draft {
        at,
        depends_on: wanted(story.relations.needs),
        blocks: wanted(story.relations.blocks),
        group: None,
        story: Story {
            id,
            title,
            description: story.description,
            notes: None,
            criteria: criteria.into_iter().map(plain).collect(),
            priority: story.priority,
            state: story.state,
            depends_on: Vec::new(),
            tool: None,
            model: None,
            files: Vec::new(),
            checks: Vec::new(),
            group: story.group.filter(|group| !group.trim().is_empty()),
            extra: Vec::new(),
        },
    }
}

/// Explains why a Markdown file gives no stories.
fn nothing_found(piece: Piece<'_>) -> Diagnostic {
    let first = piece.text.lines().find(|line| !line.trim().is_empty());
    let Some(first) = first else {
        let help = "the file is empty: write tasks as check boxes, `- [ ] task`".to_owned();
        return Diagnostic::no_stories(None, "", help);
    };
    let start = piece.text.find(first).unwrap_or_default();
    let has_hidden = piece.text.contains("- [ ]") || piece.text.contains("- [x]");
    let help = if has_hidden {
        "there are check boxes, but only inside code, comments or a legend; a code fence that is never closed hides all below it"
    } else {
        "this reads as prose: a plan has check boxes (`- [ ] task`), or headings such as `### US-001: title` with check boxes below"
    };
    Diagnostic::no_stories(
        Some(piece.span(start, start + first.trim_end().len())),
        "no tasks in this Markdown file",
        help.to_owned(),
    )
}
