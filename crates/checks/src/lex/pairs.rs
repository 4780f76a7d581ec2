//! Which bracket closes which.

use super::token::{Kind, Token};

/// For each piece the index of its partner, where it is a bracket, and its own index otherwise;
/// nothing where brackets do not match.
pub(crate) fn pairs(tokens: &[Token<'_>]) -> Option<Vec<usize>> {
    let mut partners: Vec<usize> = (0..tokens.len()).collect();
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Mark {
            continue;
        }
        let wanted = match token.text {
            "(" | "[" | "{" => {
                open.push(index);
                continue;
            }
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => continue,
        };
        let start = open.pop().filter(|start| tokens[*start].text == wanted)?;
        partners[start] = index;
        partners[index] = start;
    }
    open.is_empty().then_some(partners)
}
