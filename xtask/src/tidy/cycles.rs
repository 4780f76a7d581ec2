//! Cycles in a small graph whose nodes are numbered.
//!
//! It asks from every node which others it reaches: a crate has a hundred modules at most, so
//! nothing cleverer is needed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What each node leads to.
pub(super) type Graph = BTreeMap<usize, BTreeSet<usize>>;

/// Nodes that all reach each other.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cycle {
    pub(super) nodes: BTreeSet<usize>,
    /// A shortest way round; the first node is not named again at the end.
    pub(super) shortest: Vec<usize>,
}

/// Finds the largest sets of two or more nodes that all reach each other.
pub(super) fn cycles(graph: &Graph) -> Vec<Cycle> {
    let reached: BTreeMap<usize, BTreeSet<usize>> = graph
        .keys()
        .map(|&node| (node, paths_from(graph, node).into_keys().collect()))
        .collect();
    let leads_to = |from: usize, to: usize| reached[&from].contains(&to);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for &node in graph.keys() {
        let mutual = |other: &usize| leads_to(node, *other) && leads_to(*other, node);
        let nodes: BTreeSet<usize> = graph.keys().copied().filter(mutual).collect();
        if nodes.len() > 1 && seen.insert(nodes.clone()) {
            let shortest = shortest(graph, &nodes);
            found.push(Cycle { nodes, shortest });
        }
    }
    found
}

fn shortest(graph: &Graph, nodes: &BTreeSet<usize>) -> Vec<usize> {
    let rounds = nodes
        .iter()
        .filter_map(|&node| paths_from(graph, node).remove(&node));
    rounds.min_by_key(Vec::len).unwrap_or_default()
}

/// A shortest path to every node that can be reached, the start itself included if there is a way
/// back. A path starts with the start and leaves its end out.
fn paths_from(graph: &Graph, start: usize) -> BTreeMap<usize, Vec<usize>> {
    let mut paths: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut queue = VecDeque::from([(start, Vec::new())]);
    while let Some((node, mut path)) = queue.pop_front() {
        path.push(node);
        for &next in graph.get(&node).into_iter().flatten() {
            if next != node && !paths.contains_key(&next) {
                paths.insert(next, path.clone());
                queue.push_back((next, path.clone()));
            }
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cycles_of_a_graph_are() {
        for (edges, expected) in [
            (&[(1, 2), (2, 3), (1, 3)][..], vec![]),
            (&[(1, 1)], vec![]),
            (&[(1, 2), (2, 1)], vec![(vec![1, 2], vec![1, 2])]),
            (
                &[(1, 2), (2, 3), (3, 1), (2, 4)],
                vec![(vec![1, 2, 3], vec![1, 2, 3])],
            ),
            (
                &[(1, 2), (2, 3), (3, 1), (3, 2), (0, 1)],
                vec![(vec![1, 2, 3], vec![2, 3])],
            ),
            (
                &[(1, 2), (2, 1), (2, 3), (3, 4), (4, 3)],
                vec![(vec![1, 2], vec![1, 2]), (vec![3, 4], vec![3, 4])],
            ),
        ] {
            let mut graph = Graph::new();
            for (from, to) in edges {
                graph.entry(*from).or_default().insert(*to);
            }
            let seen: Vec<_> = cycles(&graph)
                .into_iter()
                .map(|cycle| (Vec::from_iter(cycle.nodes), cycle.shortest))
                .collect();
            assert_eq!(seen, expected, "{edges:?}");
        }
    }
}
