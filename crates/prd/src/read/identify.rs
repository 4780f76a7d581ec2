//! Gives every story an id: the author's own, or the best substitute.

use std::collections::HashSet;

use crate::change::ChangeKind;
use crate::diagnostic::Diagnostic;
use crate::keys::{self, Fields};
use crate::node::Value;
use crate::read::locate::{Found, Layout, Style};
use crate::read::{Context, tracker};
use crate::source::{Sources, Span};
use crate::story::{StoryId, UnusableId};

/// A story's id and its place, or `None` if the id is unusable.
pub(crate) type Identity = Option<(StoryId, Span)>;

/// Gives every story its id: its own, or else its key, its file's name or its position.
pub(crate) fn identify(
    layout: &Layout<'_, '_>,
    sources: &Sources,
    context: &mut Context<'_>,
) -> Vec<Identity> {
    let own_id = |found| own_id(found, layout.style);
    let own: Vec<Option<OwnId<'_>>> = layout.stories.iter().map(own_id).collect();
    // All given ids are collected first, so that a substitute never takes one of a later story.
    let taken: HashSet<&str> = own.iter().flatten().filter_map(|id| id.word.ok()).collect();
    let mut ids = Vec::with_capacity(own.len());
    for (index, (found, own)) in layout.stories.iter().zip(&own).enumerate() {
        ids.push(match own {
            Some(id) => usable(id, context),
            None => substitute(found, index, &taken, sources, context),
        });
    }
    ids
}

/// The id that the author gave.
struct OwnId<'a> {
    /// The id, or the kind of value found in its place.
    word: Result<&'a str, &'static str>,
    at: Span,
    change: Option<ChangeKind>,
}

fn own_id<'a>(found: &Found<'a, '_>, style: Style) -> Option<OwnId<'a>> {
    if style == Style::GitHub
        && let Some((word, at)) = tracker::github_id(found.map)
    {
        return Some(OwnId {
            word: Ok(word),
            at,
            change: None,
        });
    }
    let entry = Fields::of(found.map)
        .all(keys::ID)
        .find(|entry| !matches!(entry.value.value, Value::Null));
    // An object of stories has their ids as keys. An id inside the story wins.
    let Some(entry) = entry else {
        let key = found.key?;
        return Some(OwnId {
            word: Ok(key.key.trim()),
            at: key.key_span,
            change: Some(ChangeKind::IdFromKey),
        });
    };
    let at = entry.value.span;
    let (word, change) = match &entry.value.value {
        Value::Text(text) => (
            Ok(text.trim()),
            (text.trim().len() < text.len()).then_some(ChangeKind::IdTrimmed),
        ),
        Value::Number(text) => (Ok(text.as_ref()), Some(ChangeKind::IdFromNumber)),
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => {
            (Err(entry.value.kind()), None)
        }
    };
    Some(OwnId { word, at, change })
}

fn usable(id: &OwnId<'_>, context: &mut Context<'_>) -> Identity {
    let checked = match id.word {
        Ok(word) => StoryId::new(word).map_err(|because| (word, because)),
        Err(kind) => Err((kind, UnusableId::NotAWord)),
    };
    match checked {
        Ok(usable) => {
            if let Some(change) = &id.change {
                context.changed(id.at, change.clone());
            }
            Some((usable, id.at))
        }
        Err((word, because)) => {
            context
                .complaints
                .push(Diagnostic::unusable_id(word, because, id.at));
            None
        }
    }
}

/// An id for a story that has none: its file's name or its position, different from every given id.
fn substitute(
    found: &Found<'_, '_>,
    index: usize,
    taken: &HashSet<&str>,
    sources: &Sources,
    context: &mut Context<'_>,
) -> Identity {
    let at = first_key(found);
    let stem = found
        .ticket
        .and_then(|_| sources.file(at))
        .and_then(|source| {
            let file = source.name().rsplit(['/', '\\']).next()?;
            StoryId::new(file.rsplit_once('.').map_or(file, |(stem, _)| stem)).ok()
        });
    if let Some(id) = stem.filter(|id| !taken.contains(id.as_str())) {
        context.changed(at, ChangeKind::IdFromFileName(id.as_str().into()));
        return Some((id, at));
    }
    let numbered = |turn: usize| {
        if turn == 0 {
            format!("story-{}", index + 1)
        } else {
            format!("story-{}-{turn}", index + 1)
        }
    };
    // There is one candidate more than there are taken ids, so at least one is free.
    let word = (0..=taken.len())
        .map(numbered)
        .find(|word| !taken.contains(word.as_str()))?;
    context.changed(at, ChangeKind::IdFromPosition(word.as_str().into()));
    StoryId::new(&word).ok().map(|id| (id, at))
}

fn first_key(found: &Found<'_, '_>) -> Span {
    found
        .map
        .entries
        .first()
        .map_or(found.node.span, |entry| entry.key_span)
}
