//! Statements as they stand in lines.

/// Most lines that one signature may take.
const LINES_MAX: usize = 40;

/// The text from a line on until its round brackets are closed and one of the ends is there. The
/// end itself is left out.
pub(super) fn statement(lines: &[&str], from: usize, ends: &[char]) -> String {
    let mut out = String::new();
    let mut depth = 0_i32;
    for line in lines.iter().skip(from).take(LINES_MAX) {
        for character in line.trim().chars() {
            match character {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                _ => {}
            }
            if depth <= 0 && ends.contains(&character) {
                return squeezed(&out);
            }
            out.push(character);
        }
        if depth <= 0 && ends.contains(&'\n') {
            break;
        }
        out.push(' ');
    }
    squeezed(&out)
}

/// The text of a block in curly brackets, from the line that opens it, with the header.
pub(super) fn block(lines: &[&str], from: usize, keeps: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    let mut depth = 0_i32;
    for (index, line) in lines.iter().skip(from).take(LINES_MAX).enumerate() {
        let opened = depth;
        depth += balance(line);
        if index == 0 || depth <= 0 || (opened == 1 && keeps(line.trim())) {
            out.push_str(line.trim());
            out.push(' ');
        }
        if depth <= 0 && (line.contains('}') || line.contains(';')) {
            break;
        }
    }
    squeezed(&out)
}

/// How many curly brackets a line leaves open.
pub(super) fn balance(line: &str) -> i32 {
    line.chars()
        .map(|character| i32::from(character == '{') - i32::from(character == '}'))
        .sum()
}

pub(super) fn squeezed(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .join(" ")
        .replace("( ", "(")
        .replace(", )", ")")
        .replace(" )", ")")
}
