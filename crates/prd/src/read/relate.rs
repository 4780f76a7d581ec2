//! What stories say of each other: unique ids, dependencies that exist, no story that waits for
//! itself.
//!
//! All of it is linear in stories and dependencies, so that a hostile PRD costs no more than a
//! large one.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use crate::change::ChangeKind;
use crate::diagnostic::{Diagnostic, NamedBy, Severity, Unusable};
use crate::keys::Fields;
use crate::limits::{DEPENDENCIES_MAX, SPLIT, grouped};
use crate::near::nearest;
use crate::node::Node;
use crate::read::Context;
use crate::read::document::group_names;
use crate::read::fields::Wanted;
use crate::read::locate::Layout;
use crate::read::story::Draft;
use crate::source::Span;
use crate::story::{Story, StoryId, StoryState};

/// Turns drafts into stories whose dependencies all exist. What does not exist is complained about
/// and left out.
pub(crate) fn relate(
    drafts: Vec<Draft>,
    layout: &Layout<'_, '_>,
    context: &mut Context<'_>,
) -> Vec<Story> {
    let drafts = without_doubles(drafts, context);
    let mut relations = Relations::new(&drafts, layout);
    for (index, draft) in drafts.iter().enumerate() {
        for wanted in &draft.depends_on {
            relations.depends(index, wanted, NamedBy::DependsOn(&draft.story.id), context);
        }
        for wanted in &draft.blocks {
            if let Some(other) = relations.find(wanted, NamedBy::Blocks(&draft.story.id), context) {
                context.changed(wanted.at, ChangeKind::DependencyFromBlocks);
                relations.add(other, index, wanted.at);
            }
        }
    }
    relations.edges(layout, context);
    if relations.count > DEPENDENCIES_MAX {
        context.complaints.push(Diagnostic::limit_exceeded(
            "too many dependencies",
            &grouped(DEPENDENCIES_MAX),
            None,
            SPLIT,
        ));
    }
    let edges = relations.edges_by_story;
    complain_about_cycles(&drafts, &edges, context);
    let names = group_names(layout);
    let ids: Vec<StoryId> = drafts.iter().map(|draft| draft.story.id.clone()).collect();
    let finish = |(mut draft, edges): (Draft, Vec<(usize, Span)>)| {
        draft.story.depends_on = edges.iter().map(|(on, _)| ids[*on].clone()).collect();
        draft.story.group = draft
            .group
            .map(|group| names[group].clone())
            .or(draft.story.group);
        draft.story
    };
    drafts.into_iter().zip(edges).map(finish).collect()
}

/// Keeps the first story of each id.
fn without_doubles(drafts: Vec<Draft>, context: &mut Context<'_>) -> Vec<Draft> {
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

/// How many unknown dependencies get the help of a similar id.
const NEAR_SEARCHES_MAX: usize = 20;

struct Relations<'d> {
    drafts: &'d [Draft],
    by_id: HashMap<&'d str, usize>,
    by_group: HashMap<String, Vec<usize>>,
    /// For each story what it depends on and where that is said; no doubles.
    edges_by_story: Vec<Vec<(usize, Span)>>,
    seen: HashSet<(usize, usize)>,
    count: usize,
}

impl<'d> Relations<'d> {
    fn new(drafts: &'d [Draft], layout: &Layout<'_, '_>) -> Self {
        let by_id = drafts
            .iter()
            .enumerate()
            .map(|(index, draft)| (draft.story.id.as_str(), index))
            .collect();
        let mut by_group: HashMap<String, Vec<usize>> = HashMap::new();
        let names = group_names(layout);
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
            seen: HashSet::new(),
            count: 0,
        }
    }

    fn add(&mut self, story: usize, on: usize, at: Span) {
        if self.count <= DEPENDENCIES_MAX && self.seen.insert((story, on)) {
            self.count += 1;
            self.edges_by_story[story].push((on, at));
        }
    }

    /// A dependency on a story, or on every story of a group.
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
                members
                    .into_iter()
                    .filter(|member| *member != story)
                    .for_each(|member| self.add(story, member, wanted.at));
            }
            None => {
                if let Some(on) = self.find(wanted, named_by, context) {
                    self.add(story, on, wanted.at);
                }
            }
        }
    }

    fn find(
        &self,
        wanted: &Wanted,
        named_by: NamedBy<'_>,
        context: &mut Context<'_>,
    ) -> Option<usize> {
        let found = self.by_id.get(wanted.id.as_str()).copied();
        if found.is_none() {
            // Looking for the word that was meant costs a walk over all ids: not for the hundredth
            // slip.
            let ids = || self.drafts.iter().map(|draft| draft.story.id.as_str());
            let near = (context.complaints.count("PRD004") < NEAR_SEARCHES_MAX)
                .then(|| nearest(&wanted.id, ids()))
                .flatten();
            context.complaints.push(Diagnostic::unknown_dependency(
                &wanted.id, &named_by, wanted.at, near,
            ));
        }
        found
    }

    /// The edges of a task graph: `to` waits for `from`.
    fn edges(&mut self, layout: &Layout<'_, '_>, context: &mut Context<'_>) {
        let Some(entry) = layout.edges else { return };
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
            let ends = (
                self.find(&from, NamedBy::Edge, context),
                self.find(&to, NamedBy::Edge, context),
            );
            if let (Some(from), Some(to)) = ends {
                context.changed(edge.span, ChangeKind::DependencyFromEdge);
                self.add(to, from, edge.span);
            }
        }
    }
}

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

/// Complains once per knot of stories that wait for each other, with one whole cycle of it.
///
/// A dependency on a passed story is no waiting, so such knots are looked for first without those;
/// what is left is history that contradicts itself, which stops no loop.
fn complain_about_cycles(drafts: &[Draft], edges: &Edges, context: &mut Context<'_>) {
    let passed = |story: usize| drafts[story].story.state == StoryState::Passed;
    let waiting = |(story, on): (usize, &Vec<(usize, Span)>)| {
        let still = |(on, _): &&(usize, Span)| !passed(story) && !passed(*on);
        on.iter().filter(still).copied().collect()
    };
    let unfinished: Vec<Vec<(usize, Span)>> = edges.iter().enumerate().map(waiting).collect();
    let mut told = HashSet::new();
    complain_about_knots(drafts, &unfinished, &mut told, context);
    complain_about_knots(drafts, edges, &mut told, context);
}

fn complain_about_knots(
    drafts: &[Draft],
    edges: &Edges,
    told: &mut HashSet<usize>,
    context: &mut Context<'_>,
) {
    let knot_of = knots(edges);
    let told_knots: HashSet<usize> = told.iter().map(|story| knot_of[*story]).collect();
    let mut done = HashSet::new();
    for start in 0..drafts.len() {
        let knot = knot_of[start];
        if told_knots.contains(&knot) || done.contains(&knot) {
            continue;
        }
        let Some(cycle) = cycle_through(start, edges, &knot_of) else {
            continue;
        };
        done.insert(knot);
        told.extend(cycle.iter().map(|(story, _)| *story));
        let waits = cycle
            .iter()
            .any(|(story, _)| drafts[*story].story.state == StoryState::Open);
        let stuck = waits
            && cycle
                .iter()
                .all(|(story, _)| drafts[*story].story.state != StoryState::Passed);
        let severity = if stuck {
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

/// The shortest way from a story back to itself inside its knot: each story with the place where it
/// names the next.
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
            if let Entry::Vacant(new) = came_from.entry(on) {
                new.insert((story, at));
                queue.push_back(on);
            }
        }
    }
    None
}

/// Gives every story the number of its knot: two stories share one when each waits for the other
/// (Tarjan's strongly connected components, with a stack of our own because a chain may be 100,000
/// long).
fn knots(edges: &Edges) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let count = edges.len();
    let (mut order, mut low, mut knot) = (vec![NEW; count], vec![0; count], vec![NEW; count]);
    let (mut next, mut stack, mut walk) = (0, Vec::new(), Vec::new());
    for root in 0..count {
        if order[root] != NEW {
            continue;
        }
        walk.push((root, 0));
        while let Some((story, edge)) = walk.pop() {
            if edge == 0 {
                (order[story], low[story]) = (next, next);
                next += 1;
                stack.push(story);
            }
            if let Some(&(on, _)) = edges[story].get(edge) {
                walk.push((story, edge + 1));
                if order[on] == NEW {
                    walk.push((on, 0));
                } else if knot[on] == NEW {
                    low[story] = low[story].min(order[on]);
                }
                continue;
            }
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
