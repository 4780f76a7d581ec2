//! The tree that every parser produces: values with their exact place in the file.
//!
//! Numbers are kept as text, so that 1e999 or a 40-digit id survives. Map entries are kept in file
//! order, duplicates included. The tree knows nothing about stories.

use std::borrow::Cow;

use crate::source::Span;

/// A value and its place.
#[derive(Debug, Clone)]
pub(crate) struct Node<'s> {
    pub(crate) value: Value<'s>,
    pub(crate) span: Span,
    pub(crate) origin: Origin,
}

/// Whether the bytes at a node's span belong to it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is written at its place.
    Own,
    /// It came in through a YAML alias or merge key: changing its bytes would change other places
    /// too.
    Shared,
}

#[derive(Debug, Clone)]
pub(crate) enum Value<'s> {
    Null,
    Bool(bool),
    Number(Cow<'s, str>),
    Text(Cow<'s, str>),
    List(Vec<Node<'s>>),
    Map(Map<'s>),
}

/// How a map is written. `mark` needs it to add an entry in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapStyle {
    Json,
    YamlFlow,
    YamlBlock,
    /// A lone pair inside a flow list, `[id: a]`, to which nothing can be added.
    YamlPair,
}

#[derive(Debug, Clone)]
pub(crate) struct Map<'s> {
    pub(crate) entries: Vec<Entry<'s>>,
    pub(crate) style: MapStyle,
}

#[derive(Debug, Clone)]
pub(crate) struct Entry<'s> {
    pub(crate) key: Cow<'s, str>,
    pub(crate) key_span: Span,
    pub(crate) value: Node<'s>,
}

/// A key that occurs twice in one map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DoubleKey {
    pub(crate) key: String,
    pub(crate) first: Span,
    pub(crate) second: Span,
    pub(crate) same_value: bool,
}

impl<'s> Node<'s> {
    pub(crate) fn own(value: Value<'s>, span: Span) -> Self {
        Self {
            value,
            span,
            origin: Origin::Own,
        }
    }

    pub(crate) fn as_map(&self) -> Option<&Map<'s>> {
        match &self.value {
            Value::Map(map) => Some(map),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {
                None
            }
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Node<'s>]> {
        match &self.value {
            Value::List(items) => Some(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => {
                None
            }
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => {
                None
            }
        }
    }

    /// The trimmed text of a word, number or boolean. `None` for null, lists, maps and blank text.
    pub(crate) fn as_word(&self) -> Option<&str> {
        let word = match &self.value {
            Value::Text(text) | Value::Number(text) => text.trim(),
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            Value::Null | Value::List(_) | Value::Map(_) => "",
        };
        (!word.is_empty()).then_some(word)
    }

    /// Says whether the value is a list with at least one object, or an object of objects.
    pub(crate) fn holds_objects(&self) -> bool {
        match &self.value {
            Value::List(items) => items.iter().any(|item| item.as_map().is_some()),
            Value::Map(map) => {
                !map.entries.is_empty()
                    && map
                        .entries
                        .iter()
                        .all(|entry| entry.value.as_map().is_some())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => false,
        }
    }

    /// The kind of the value, in words for people.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "a yes/no value",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "an object",
        }
    }

    /// Says whether two values are equal, wherever they are written. Keys must be in the same
    /// order.
    fn same_as(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) | (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_as(b))
            }
            (Value::Map(a), Value::Map(b)) => {
                let pairs = || a.entries.iter().zip(&b.entries);
                a.entries.len() == b.entries.len()
                    && pairs().all(|(a, b)| a.key == b.key && a.value.same_as(&b.value))
            }
            _ => false,
        }
    }
}

impl Map<'_> {
    /// Every key that occurs more than once, in file order. Maps with many keys are sorted, because
    /// comparing all pairs would be quadratic.
    pub(crate) fn doubles(&self) -> Vec<DoubleKey> {
        // Comparing all pairs of a small object is fast and needs no allocation.
        const FEW: usize = 12;
        let entries = &self.entries;
        let mut found = Vec::new();
        if entries.len() <= FEW {
            for (index, entry) in entries.iter().enumerate() {
                if let Some(earlier) = entries[..index]
                    .iter()
                    .find(|earlier| earlier.key == entry.key)
                {
                    found.push(double(earlier, entry));
                }
            }
            return found;
        }
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by(|&a, &b| entries[a].key.cmp(&entries[b].key).then(a.cmp(&b)));
        for pair in order.windows(2) {
            if entries[pair[0]].key == entries[pair[1]].key {
                found.push(double(&entries[pair[0]], &entries[pair[1]]));
            }
        }
        found.sort_by_key(|double| double.second);
        found
    }
}

fn double(first: &Entry<'_>, second: &Entry<'_>) -> DoubleKey {
    let same_value = first.value.same_as(&second.value);
    DoubleKey {
        key: second.key.to_string(),
        first: first.key_span,
        second: second.key_span,
        same_value,
    }
}
