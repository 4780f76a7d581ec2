//! Reads `JUnit` XML as pytest, vitest, bun, node and the JVM's runners write it.

use super::collect::Collector;
use super::model::TestStatus;
use super::place::relative;
use super::xml::{Event, Reader};
use crate::text::{MESSAGE_BYTES_MAX, clip, extension};

/// Deepest nesting of suites that is followed.
const DEPTH_MAX: usize = 64;
/// Between the titles of a test.
pub(super) const TITLES: &str = " > ";

pub(super) fn read_into(out: &mut Collector, xml: &str) {
    let mut walk = Walk {
        out,
        elements: Vec::new(),
        suites: Vec::new(),
        case: None,
    };
    for event in Reader::new(xml) {
        match event {
            Event::Open { name, attributes } => walk.open(&name, attributes),
            Event::Close => walk.close(),
            Event::Text(text) => walk.text(&text),
        }
    }
    walk.finish();
}

struct Walk<'a> {
    out: &'a mut Collector,
    elements: Vec<Element>,
    suites: Vec<Attributes>,
    case: Option<Case>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    Suite,
    Case,
    Outcome,
    Other,
}

type Attributes = Vec<(String, String)>;

fn get<'a>(attributes: &'a Attributes, name: &str) -> &'a str {
    attributes
        .iter()
        .find(|(key, _)| key == name)
        .map_or("", |(_, value)| value)
}

struct Case {
    attributes: Attributes,
    status: TestStatus,
    message: String,
    text: String,
}

impl Walk<'_> {
    fn open(&mut self, name: &str, attributes: Attributes) {
        let element = match (name, &mut self.case) {
            ("testsuite", None) => {
                if self.suites.len() < DEPTH_MAX {
                    self.suites.push(attributes);
                    Element::Suite
                } else {
                    Element::Other
                }
            }
            ("testcase", None) => {
                let skipped =
                    ["skipped", "notrun", "disabled"].contains(&get(&attributes, "status"));
                let status = if skipped {
                    TestStatus::Skipped
                } else {
                    TestStatus::Passed
                };
                self.case = Some(Case {
                    attributes,
                    status,
                    message: String::new(),
                    text: String::new(),
                });
                Element::Case
            }
            ("failure" | "error", Some(case)) => {
                case.status = TestStatus::Failed;
                if case.message.is_empty() {
                    case.message = clip(get(&attributes, "message"), MESSAGE_BYTES_MAX);
                }
                Element::Outcome
            }
            ("skipped", Some(case)) => {
                case.status = case.status.min(TestStatus::Skipped);
                Element::Other
            }
            _ => Element::Other,
        };
        self.elements.push(element);
    }

    fn close(&mut self) {
        match self.elements.pop() {
            Some(Element::Suite) => {
                self.suites.pop();
            }
            Some(Element::Case) => self.end_case(),
            Some(Element::Outcome | Element::Other) | None => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let (Some(Element::Outcome), Some(case)) = (self.elements.last(), &mut self.case)
            && case.text.len() < MESSAGE_BYTES_MAX
        {
            case.text.push_str(&clip(text, 4 * MESSAGE_BYTES_MAX));
        }
    }

    fn end_case(&mut self) {
        let Some(case) = self.case.take() else { return };
        let named = name_and_place(&self.suites, &case.attributes);
        let message = message_of(&case);
        let broken = broken_file(&case.attributes, &case.message)
            .filter(|_| case.status == TestStatus::Failed);
        if let Some(file) = broken {
            self.out.broken_file(&file);
            self.out
                .build_failure(&format!("{file}: {}", without_source(&case.text, &message)));
            return;
        }
        let message = (case.status == TestStatus::Failed).then_some(message.as_str());
        self.out
            .add(&named.name, named.place.as_deref(), case.status, message);
    }

    /// A report that ends within an element was cut off; what ran then did not end well.
    fn finish(&mut self) {
        if self.elements.is_empty() {
            return;
        }
        self.out.truncated();
        if let Some(case) = &mut self.case {
            case.status = TestStatus::Failed;
            self.end_case();
        }
    }
}

struct Named {
    name: String,
    place: Option<String>,
}

fn name_and_place(suites: &[Attributes], case: &Attributes) -> Named {
    let name = get(case, "name");
    let class = get(case, "classname");
    let file = get(case, "file");
    if suites
        .first()
        .is_some_and(|suite| get(suite, "name") == "pytest")
        || extension(file) == "py"
    {
        return pytest(class, name, file);
    }
    let mut titles: Vec<&str> = suites
        .iter()
        .filter_map(|suite| title(suite, class))
        .collect();
    let mut place = suites
        .iter()
        .map(|suite| get(suite, "file"))
        .find(|file| !file.is_empty())
        .map(relative);
    if !file.is_empty() {
        place = Some(relative(file));
    } else if is_file(class) {
        place = Some(relative(class));
    } else if is_java_class(class) {
        place = Some(class.replace('.', "/"));
        titles = vec![class.rsplit('.').next().unwrap_or(class)];
    }
    titles.push(name);
    Named {
        name: titles.join(TITLES),
        place,
    }
}

/// A suite's name where it is a title, and no file, class or name of the whole run.
fn title<'a>(suite: &'a Attributes, class: &str) -> Option<&'a str> {
    let name = get(suite, "name");
    let is_title = !name.is_empty()
        && name != get(suite, "file")
        && !is_file(name)
        && !(name == class && (is_java_class(class) || is_file(class)));
    is_title.then_some(name)
}

fn is_file(text: &str) -> bool {
    [
        "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "py", "rs", "go", "vue", "svelte",
    ]
    .contains(&extension(text))
        && !text.contains(' ')
}

fn is_java_class(class: &str) -> bool {
    let last = class.rsplit('.').next().unwrap_or("");
    class.contains('.')
        && !class.contains([' ', '/'])
        && last.starts_with(|c: char| c.is_ascii_uppercase())
}

/// pytest's class is the dotted module, then the classes within it. The file is the one that holds
/// the test's text, which is another one where a class inherits its tests.
fn pytest(class: &str, name: &str, file: &str) -> Named {
    let holder = file.trim_end_matches(".py").replace('/', ".");
    let within = class
        .strip_prefix(&holder)
        .filter(|rest| rest.is_empty() || rest.starts_with('.'))
        .filter(|_| !file.is_empty());
    let (module, classes) = if let Some(classes) = within {
        let classes = classes.trim_start_matches('.').replace('.', "::");
        (file.to_owned(), classes)
    } else {
        let parts: Vec<&str> = class.split('.').collect();
        let from = parts
            .iter()
            .position(|part| part.starts_with(|c: char| c.is_ascii_uppercase()));
        match from {
            // Without a class that can be told, the file is surer than the dots.
            None if !file.is_empty() => (file.to_owned(), String::new()),
            from => {
                let from = from.unwrap_or(parts.len());
                (parts[..from].join("/") + ".py", parts[from..].join("::"))
            }
        }
    };
    let name = if classes.is_empty() {
        name.to_owned()
    } else {
        format!("{classes}::{name}")
    };
    Named {
        name,
        place: Some(relative(&module)),
    }
}

/// A failed "test" that stands for a whole file which could not be loaded.
fn broken_file(case: &Attributes, message: &str) -> Option<String> {
    let name = get(case, "name");
    if message == "collection failure" {
        let file = get(case, "file");
        return Some(if file.is_empty() {
            name.replace('.', "/") + ".py"
        } else {
            relative(file)
        });
    }
    let is_whole_file =
        is_file(name) && (name == get(case, "classname") || get(case, "classname") == "test");
    is_whole_file.then(|| relative(name))
}

/// What is told of a failure: the message, or the text without the test's own source.
fn message_of(case: &Case) -> String {
    if case.message.trim().is_empty() {
        without_source(&case.text, "")
    } else {
        case.message.clone()
    }
}

/// pytest shows the source of the test around its `E` lines; only those are told.
fn without_source(text: &str, otherwise: &str) -> String {
    let errors: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("E  "))
        .map(str::trim)
        .collect();
    if !errors.is_empty() {
        return errors.join("\n");
    }
    let text = text.trim();
    clip(
        if text.is_empty() { otherwise } else { text },
        MESSAGE_BYTES_MAX,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_of_pytest_is_where_its_class_is() {
        for (class, file, expected) in [
            (
                "tests.test_a",
                "tests/test_a.py",
                "test_x (tests/test_a.py)",
            ),
            (
                "tests.test_a.TestB",
                "tests/test_a.py",
                "TestB::test_x (tests/test_a.py)",
            ),
            (
                "tests.test_a.b",
                "tests/test_a.py",
                "b::test_x (tests/test_a.py)",
            ),
            ("tests.test_a.TestB", "", "TestB::test_x (tests/test_a.py)"),
            (
                "tests.test_a.TestB",
                "tests/__init__.py",
                "TestB::test_x (tests/test_a.py)",
            ),
            (
                "tests.test_ab.TestB",
                "tests/test_a.py",
                "TestB::test_x (tests/test_ab.py)",
            ),
            ("tests.test_a.b", "tests/base.py", "test_x (tests/base.py)"),
        ] {
            let named = pytest(class, "test_x", file);
            let shown = format!("{} ({})", named.name, named.place.unwrap_or_default());
            assert_eq!(shown, expected, "{class} in {file}");
        }
    }
}
