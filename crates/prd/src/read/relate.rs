//! Relates the stories to each other: unique ids, dependencies that exist, no story that waits for
//! itself.
//!
//! All of this is linear in stories and dependencies, so that a hostile PRD costs no more than a
//! large one.

use std::collections::hash_map;
use std::collections::{HashMap, HashSet, VecDeque};

use crate::change::ChangeKind;
use crate::diagnostic::{Diagnostic, NamedBy, Severity, Unusable};
use crate::keys::Fields;
use crate::limits::{DEPENDENCIES_MAX, SPLIT, grouped};
use crate::near::nearest;
use crate::node::{Entry, Node};
use crate::read::Context;
use crate::read::fields::Wanted;
use crate::read::story::Draft;
use crate::source::Span;
use crate::story::{Story, StoryId, StoryState};

/// What a dependency on an id that no story has means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Unknown {
    /// A mistake.
    #[default]
    Mistake,
    /// Something outside of the file, which a tracker or a plan may well name.
    Outside,
}

/// What the stories stand in.
#[derive(Default)]
pub(crate) struct Surroundings<'a, 's> {
    /// The names of the groups that drafts point to.
    pub(crate) groups: Vec<String>,
    /// The edges of a task graph.
    pub(crate) edges: Option<&'a Entry<'s>>,
    pub(crate) unknown: Unknown,
    /// Ids that the document says to be outside of it.
    pub(crate) outside: Vec<String>,
}

/// Turns drafts into stories, and lists the ids outside of the file that they depend on. Other
/// dependencies that do not exist are reported and left out.
pub(crate) fn relate(
    drafts: Vec<Draft>,
    surroundings: &Surroundings<'_, '_>,
    context: &mut Context<'_>,
) -> (Vec<Story>, Vec<String>) {
    let drafts = without_duplicates(drafts, context);
    let mut relations = Relations::new(&drafts, surroundings);
    for (index, draft) in drafts.iter().enumerate() {
        for wanted in &draft.depends_on {
            relations.depends(index, wanted, NamedBy::DependsOn(&draft.story.id), context);
        }
        // `blocks` is a dependency seen from the other side.
        for wanted in &draft.blocks {
            if let Some(other) = relations.find(wanted, NamedBy::Blocks(&draft.story.id), context) {
                context.changed(wanted.at, ChangeKind::DependencyFromBlocks);
                relations.add(other, index, wanted.at);
            }
        }
    }
    relations.edges(surroundings.edges, context);
    if relations.count > DEPENDENCIES_MAX {
        context.complaints.push(Diagnostic::limit_exceeded(
            "too many dependencies",
            &grouped(DEPENDENCIES_MAX),
            None,
            SPLIT,
        ));
    }
    // Cycles are looked for among dependencies that exist, so an unknown one is reported only once.
    let (edges, mut outside_by_story) = (relations.edges_by_story, relations.outside_by_story);
    complain_about_cycles(&drafts, &edges, context);
    let names = &surroundings.groups;
    let ids: Vec<StoryId> = drafts.iter().map(|draft| draft.story.id.clone()).collect();
    let mut outside: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let stories = drafts.into_iter().zip(edges).enumerate();
    let stories = stories.map(|(index, (mut draft, edges))| {
        let mut depends_on: Vec<StoryId> = edges.iter().map(|(on, _)| ids[*on].clone()).collect();
        for id in outside_by_story.remove(&index).unwrap_or_default() {
            if seen.insert(id.clone()) {
                outside.push(id.as_str().to_owned());
            }
            depends_on.push(id);
        }
        draft.story.depends_on = depends_on;
        // The group that holds the story wins over its own `group` field.
        draft.story.group = draft
            .group
            .map(|group| names[group].clone())
            .or(draft.story.group);
        draft.story
    });
    let stories = stories.collect();
    (stories, outside)
}

/// Keeps the first story of each id and reports the others.
fn without_duplicates(drafts: Vec<Draft>, context: &mut Context<'_>) -> Vec<Draft> {
    let mut first_at: HashMap<StoryId, Span> = HashMap::with_capacity(drafts.len());
    let mut kept = Vec::with_capacity(drafts.len());
    for draft in drafts {
        if let Some(first) = first_at.get(&draft.story.id) {
            context
                .complaints
                .push(Diagnostic::duplicate_id(&draft.story.id, draft.at, *first));
        } else {
            first_at.insert(draft.story.id.clone(), draft.at);
            kept.push(draft);
        }
    }
    kept
}

/// How many unknown dependencies get a similar id as help. Finding one takes a walk over all ids.
const NEAR_SEARCHES_MAX: usize = 20;

struct Relations<'d> {
    drafts: &'d [Draft],
    by_id: HashMap<&'d str, usize>,
    by_group: HashMap<String, Vec<usize>>,
    /// For each story, what it depends on and where that is written, without duplicates.
    edges_by_story: Vec<Vec<(usize, Span)>>,
    /// For some stories, what they depend on outside of the file.
    outside_by_story: HashMap<usize, Vec<StoryId>>,
    unknown: Unknown,
    declared_outside: HashSet<&'d str>,
    seen: HashSet<(usize, usize)>,
    count: usize,
}

impl<'d> Relations<'d> {
    fn new(drafts: &'d [Draft], surroundings: &'d Surroundings<'_, '_>) -> Self {
        let by_id = drafts
            .iter()
            .enumerate()
            .map(|(index, draft)| (draft.story.id.as_str(), index))
            .collect();
        let mut by_group: HashMap<String, Vec<usize>> = HashMap::new();
        let names = &surroundings.groups;
        for (index, draft) in drafts.iter().enumerate() {
            if let Some(group) = draft.group {
                by_group
                    .entry(names[group].clone())
                    .or_default()
                    .push(index);
            }
        }
        let edges_by_story = vec![Vec::new(); drafts.len()];
        Self {
            drafts,
            by_id,
            by_group,
            edges_by_story,
            outside_by_story: HashMap::new(),
            unknown: surroundings.unknown,
            declared_outside: surroundings.outside.iter().map(String::as_str).collect(),
            seen: HashSet::new(),
            count: 0,
        }
    }

    fn add(&mut self, story: usize, on: usize, at: Span) {
        // `<=` lets the count go one over the limit, which is how the caller sees that it was hit.
        if self.count <= DEPENDENCIES_MAX && self.seen.insert((story, on)) {
            self.count += 1;
            self.edges_by_story[story].push((on, at));
        }
    }

    /// Adds a dependency on a story, or on every story of a group. A story's id wins over a group
    /// of the same name.
    fn depends(
        &mut self,
        story: usize,
        wanted: &Wanted,
        named_by: NamedBy<'_>,
        context: &mut Context<'_>,
    ) {
        let group = (!self.by_id.contains_key(wanted.id.as_str()))
            .then(|| self.by_group.get(&wanted.id))
            .flatten();
        match group.cloned() {
            Some(members) => {
                context.changed(wanted.at, ChangeKind::DependencyOnGroup(members.len()));
                // A story may depend on its own group: it waits for the others in it.
                members
                    .into_iter()
                    .filter(|member| *member != story)
                    .for_each(|member| self.add(story, member, wanted.at));
            }
            None if self.is_outside(&wanted.id) => self.depends_outside(story, wanted, context),
            None => {
                if let Some(on) = self.find(wanted, named_by, context) {
                    self.add(story, on, wanted.at);
                }
            }
        }
    }

    fn is_outside(&self, id: &str) -> bool {
        let is_allowed = self.unknown == Unknown::Outside || self.declared_outside.contains(id);
        is_allowed && !self.by_id.contains_key(id)
    }

    /// Notes a dependency on something that is not in the file. It is the author's word and is kept;
    /// a loop does not wait for it.
    fn depends_outside(&mut self, story: usize, wanted: &Wanted, context: &mut Context<'_>) {
        let Ok(id) = StoryId::new(&wanted.id) else {
            return;
        };
        let Story {
            id: named_by,
            state,
            ..
        } = &self.drafts[story].story;
        // What a finished story once waited for matters to nobody.
        if self.unknown == Unknown::Outside && *state == StoryState::Open {
            let near = self.near(&wanted.id, context);
            let found = Diagnostic::dependency_outside(&wanted.id, named_by, wanted.at, near);
            context.complaints.push(found);
        }
        let others = self.outside_by_story.entry(story).or_default();
        if self.count <= DEPENDENCIES_MAX && !others.contains(&id) {
            self.count += 1;
            others.push(id);
        }
    }

    fn near(&self, wanted: &str, context: &Context<'_>) -> Option<&'d str> {
        if context.complaints.count("PRD004") >= NEAR_SEARCHES_MAX {
            return None;
        }
        let ids = self.drafts.iter().map(|draft| draft.story.id.as_str());
        nearest(wanted, ids)
    }

    fn find(
        &self,
        wanted: &Wanted,
        named_by: NamedBy<'_>,
        context: &mut Context<'_>,
    ) -> Option<usize> {
        let found = self.by_id.get(wanted.id.as_str()).copied();
        if found.is_none() {
            let near = self.near(&wanted.id, context);
            context.complaints.push(Diagnostic::unknown_dependency(
                &wanted.id, &named_by, wanted.at, near,
            ));
        }
        found
    }

    /// Adds the edges of a task graph: `to` waits for `from`.
    fn edges(&mut self, entry: Option<&Entry<'_>>, context: &mut Context<'_>) {
        let Some(entry) = entry else { return };
        for edge in entry.value.as_list().unwrap_or_default() {
            let Some((from, to)) = edge_ends(edge) else {
                let found = format!("{} without `from` and `to`", edge.kind());
                let help = "write an edge as an object with `from` and `to`";
                let unusable = Unusable {
                    field: "an edge",
                    found: &found,
                    instead: "it was passed over",
                    help,
                };
                context.complaints.push(Diagnostic::unusable_value(
                    &unusable,
                    edge.span,
                    Severity::Warning,
                ));
                continue;
            };
            // Look both up first, so that both are reported if neither exists.
            let from = self.find(&from, NamedBy::Edge, context);
            let to = self.find(&to, NamedBy::Edge, context);
            if let (Some(from), Some(to)) = (from, to) {
                context.changed(edge.span, ChangeKind::DependencyFromEdge);
                self.add(to, from, edge.span);
            }
        }
    }
}

/// The two ends of an edge, written as `{"from": …, "to": …}` or as `[from, to]`.
fn edge_ends(edge: &Node<'_>) -> Option<(Wanted, Wanted)> {
    let end = |node: &Node<'_>| {
        Some(Wanted {
            id: node.as_word()?.to_owned(),
            at: node.span,
        })
    };
    if let Some([from, to]) = edge.as_list() {
        return Some((end(from)?, end(to)?));
    }
    let fields = Fields::of(edge.as_map()?);
    Some((
        end(&fields.named("from")?.value)?,
        end(&fields.named("to")?.value)?,
    ))
}

type Edges = [Vec<(usize, Span)>];

/// Reports one whole cycle per knot. A knot is a set of stories that all wait for each other.
///
/// Nothing waits for a passed story, so the first search leaves those out. The second search finds
/// what is left: cycles through passed stories, which contradict their own history but stop no
/// loop.
fn complain_about_cycles(drafts: &[Draft], edges: &Edges, context: &mut Context<'_>) {
    let has_passed = |story: usize| drafts[story].story.state == StoryState::Passed;
    let unfinished: Vec<Vec<(usize, Span)>> = edges
        .iter()
        .enumerate()
        .map(|(story, dependencies)| {
            dependencies
                .iter()
                .filter(|(on, _)| !has_passed(story) && !has_passed(*on))
                .copied()
                .collect()
        })
        .collect();
    let mut reported = HashSet::new();
    complain_about_knots(drafts, &unfinished, &mut reported, context);
    complain_about_knots(drafts, edges, &mut reported, context);
}

fn complain_about_knots(
    drafts: &[Draft],
    edges: &Edges,
    reported: &mut HashSet<usize>,
    context: &mut Context<'_>,
) {
    let knot_of = knots(edges);
    let mut reported_knots: HashSet<usize> = reported.iter().map(|story| knot_of[*story]).collect();
    for start in 0..drafts.len() {
        let knot = knot_of[start];
        if reported_knots.contains(&knot) {
            continue;
        }
        let Some(cycle) = cycle_through(start, edges, &knot_of) else {
            continue;
        };
        reported_knots.insert(knot);
        reported.extend(cycle.iter().map(|(story, _)| *story));
        let state = |story: usize| drafts[story].story.state;
        // A cycle stops a loop only if one of its stories would run and none has passed.
        let is_waiting = cycle
            .iter()
            .any(|(story, _)| state(*story) == StoryState::Open);
        let is_stuck = is_waiting
            && cycle
                .iter()
                .all(|(story, _)| state(*story) != StoryState::Passed);
        let severity = if is_stuck {
            Severity::Error
        } else {
            Severity::Warning
        };
        let ids: Vec<&StoryId> = cycle
            .iter()
            .map(|(story, _)| &drafts[*story].story.id)
            .collect();
        let places: Vec<Span> = cycle.iter().map(|(_, at)| *at).collect();
        context
            .complaints
            .push(Diagnostic::dependency_cycle(&ids, &places, severity));
    }
}

/// The shortest cycle through a story inside its knot, by breadth-first search: each story with the
/// place where it names the next. `None` if the story is not part of a cycle.
fn cycle_through(start: usize, edges: &Edges, knot_of: &[usize]) -> Option<Vec<(usize, Span)>> {
    let mut came_from: HashMap<usize, (usize, Span)> = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(story) = queue.pop_front() {
        for &(on, at) in edges[story]
            .iter()
            .filter(|(on, _)| knot_of[*on] == knot_of[start])
        {
            if on == start {
                let mut cycle = vec![(story, at)];
                let mut here = story;
                while let Some(&(before, at)) = came_from.get(&here) {
                    cycle.push((before, at));
                    here = before;
                }
                cycle.reverse();
                return Some(cycle);
            }
            if let hash_map::Entry::Vacant(new) = came_from.entry(on) {
                new.insert((story, at));
                queue.push_back(on);
            }
        }
    }
    None
}

/// Gives every story the number of its knot. Two stories share one if each waits for the other.
///
/// These are Tarjan's strongly connected components. The walk has a stack of its own, because a
/// chain of 100,000 dependencies would overflow the thread's.
fn knots(edges: &Edges) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let count = edges.len();
    // When each story was first visited, and the earliest story that it can reach.
    let mut order = vec![NEW; count];
    let mut low = vec![0; count];
    let mut knot = vec![NEW; count];
    let mut next = 0;
    // Visited stories whose knot is not known yet.
    let mut stack = Vec::new();
    // The path of the walk: each story with the index of its next dependency.
    let mut walk = Vec::new();
    for root in 0..count {
        if order[root] != NEW {
            continue;
        }
        walk.push((root, 0));
        while let Some((story, edge)) = walk.pop() {
            if edge == 0 {
                order[story] = next;
                low[story] = next;
                next += 1;
                stack.push(story);
            }
            if let Some(&(on, _)) = edges[story].get(edge) {
                walk.push((story, edge + 1));
                // Come back for the next dependency once this one has been walked.
                if order[on] == NEW {
                    walk.push((on, 0));
                } else if knot[on] == NEW {
                    low[story] = low[story].min(order[on]);
                }
                continue;
            }
            // A story that reaches nothing earlier than itself closes its knot.
            if low[story] == order[story] {
                while let Some(member) = stack.pop() {
                    knot[member] = story;
                    if member == story {
                        break;
                    }
                }
            }
            if let Some(&(parent, _)) = walk.last() {
                low[parent] = low[parent].min(low[story]);
            }
        }
    }
    knot
}
