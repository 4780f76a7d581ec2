//! What files offer to others.

use checks::surface::surface;

use crate::fuzz::Dice;

const RUST: &str = "//! pub fn not_me() {}\nuse std::fmt;\npub use inner::Thing;\n\npub const MAX: usize = 3;\n\n/// Adds.\npub fn add(\n    a: i32,\n    b: i32,\n) -> i32 {\n    let text = \"pub fn no() {\";\n    a + b\n}\n\nfn hidden() {}\npub(crate) fn also_hidden() {}\n\n#[derive(Debug)]\npub struct Point {\n    pub x: i32,\n    secret: i32,\n}\n\npub enum Kind {\n    One,\n    Two(i32),\n}\n\nimpl Point {\n    pub fn new(x: i32) -> Self {\n        if true { pub_fn() }\n        Self { x, secret: 0 }\n    }\n    fn hidden(&self) {}\n}\n\nimpl fmt::Display for Point {\n    fn fmt(&self) {}\n}\n\npub trait Shape {\n    fn area(&self) -> f64;\n    fn name(&self) -> String {\n        String::new()\n    }\n}\n\npub mod inner {\n    pub struct Thing;\n    pub async fn go<'a>(x: &'a str) {}\n}\n\npub type Id = u32;\n\n#[cfg(test)]\nmod tests {\n    pub fn not_me_either() {}\n}\n";
const SCRIPT: &str = "import x from 'y'\nexport const add = (a, b) => a + b\nexport const MAX = 3;\nexport function mul(a: number, b: number): number {\n  return a * b\n}\nexport default async function main() {\n}\nexport class Point extends Base {\n  constructor(public x: number) {\n    super()\n  }\n  move(by: number): void {\n    if (by) {\n    }\n  }\n  private hidden() {\n  }\n}\nexport interface Shape {\n  area(): number\n}\nexport type Id = string | number\nexport { a, b } from './c.js'\nexport * from './d.js'\nfunction hidden() {}\nexports.old = function (a) {\n}\nmodule.exports = { one, two }\n";
const PYTHON: &str = "\"\"\"def not_me(): pass\"\"\"\n__all__ = [\"add\", \"Point\"]\n\ndef add(a: int, b: int = 2) -> int:\n    def inner(): pass\n    return a + b\n\ndef _hidden(): pass\n\nasync def go(\n    x,\n    y,\n):\n    pass\n\nclass Point(Base):\n    \"\"\"Doc.\"\"\"\n    def __init__(self, x):\n        pass\n    def move(self, by) -> None:\n        pass\n    def _hidden(self): pass\n\nclass _Hidden:\n    def a(self): pass\n";
const GO: &str = "package x\n\nconst Max = 3\n\nfunc Add(a, b int) int {\n\treturn a\n}\n\nfunc hidden() {}\n\ntype Point struct {\n\tX int\n\ty int\n}\n\nfunc (p *Point) Move(by int) error {\n\treturn nil\n}\n\ntype ID = string\n";
const C: &str = "#include <x.h>\nint add(int a,\n        int b);\nstatic int hidden(void) {\n  return 0;\n}\nint mul(int a) {\n  return a;\n}\ntypedef struct {\n  int x;\n} point;\n";
const SHELL: &str = "#!/bin/sh\nbuild() {\n  echo\n}\nfunction run {\n  x\n}\necho \"a() {\"\n";

#[test]
fn exported_names_are_listed() {
    let shown = [
        ("a.rs", RUST),
        ("a.ts", SCRIPT),
        ("a.py", PYTHON),
        ("a.go", GO),
        ("a.h", C),
        ("a.sh", SHELL),
    ]
    .map(|(path, text)| format!("# {path}\n{}\n", surface(path, text).join("\n")));
    insta::assert_snapshot!(shown.join("\n"));
    assert_eq!(surface("a.txt", RUST), Vec::<String>::new());
}

#[test]
fn damaged_sources_do_not_matter() {
    for seed in 0..600_u64 {
        let mut dice = Dice::new(seed);
        let (path, text) = [
            ("a.rs", RUST),
            ("a.ts", SCRIPT),
            ("a.py", PYTHON),
            ("a.go", GO),
            ("a.h", C),
            ("a.sh", SHELL),
        ][dice.below(6)];
        let damaged = crate::fuzz::damage(text, &mut dice);
        assert!(
            surface(path, &damaged).iter().all(|item| item.len() <= 400),
            "seed {seed}"
        );
    }
}
