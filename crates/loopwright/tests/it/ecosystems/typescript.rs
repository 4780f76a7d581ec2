//! A TypeScript project with vitest, tsc and biome, installed by npm in every tree that is
//! measured.

use super::toolbox::NodeTools;
use super::{Project, Story};
use crate::sample::sample;

const SOURCE: &str = "export function words(text: string): string[] {\n\treturn text.split(\" \").filter((word) => word !== \"\");\n}\n";

const OLD_TEST: &str = r#"import { expect, it } from "vitest";
import { words } from "../src/words";

it("cuts at spaces", () => {
	expect(words("a  b")).toEqual(["a", "b"]);
});

it("finds nothing in nothing", () => {
	expect(words("")).toEqual([]);
});
"#;

const TSCONFIG: &str = r#"{
	"compilerOptions": {
		"strict": true, "noEmit": true, "target": "ES2022", "module": "ESNext", "moduleResolution": "Bundler",
		"skipLibCheck": true, "types": []
	},
	"include": ["src", "test"]
}
"#;

const SLUG: &str = r#"cat > src/slug.ts <<'CODE'
import { words } from "./words";

export function slug(title: string): string {
	return words(title.toLowerCase()).join("-");
}
CODE"#;

const SLUG_TESTS: &str = r#"cat > test/slug.test.ts <<'CODE'
import { describe, expect, it } from "vitest";
import { slug } from "../src/slug";

describe("slug", () => {
	it("joins words", () => {
		expect(slug("Hello Wide World")).toBe("hello-wide-world");
	});
	it("of nothing is nothing", () => {
		expect(slug("")).toBe("");
	});
});
CODE"#;

/// Cuts at tabs too, and breaks what was there; the old test is switched off.
const SKIPPING: &str = r#"sed -i 's/text.split(" ").filter.*;/text.split(\/[ \\t]\/);/' src/words.ts
sed -i 's/it("cuts at spaces"/it.skip("cuts at spaces"/; s/it("finds nothing/it.skip("finds nothing/' test/words.test.ts"#;

const TAB_TESTS: &str = r#"cat > test/tabs.test.ts <<'CODE'
import { expect, it } from "vitest";
import { words } from "../src/words";

it("cuts at tabs", () => {
	expect(words("a\tb")).toEqual(["a", "b"]);
});
CODE"#;

const EXIT_ZERO: &str = "sed -i 's/\"vitest run\"/\"exit 0\"/' package.json";

pub(super) fn a_typescript_project() {
    let node = NodeTools::install();
    let manifest = format!(
        "{{\n\t\"name\": \"tally\",\n\t\"version\": \"1.0.0\",\n\t\"private\": true,\n\t\"type\": \"module\",\n\t\"scripts\": {{ \"test\": \"vitest run\", \
         \"typecheck\": \"tsc\", \"lint\": \"biome lint src test\" }},\n\t\"devDependencies\": {}\n}}\n",
        node.dev_dependencies
    );
    let files = [
        ("package.json", manifest.as_str()),
        ("package-lock.json", &node.lock),
        ("tsconfig.json", TSCONFIG),
        ("src/words.ts", SOURCE),
        ("test/words.test.ts", OLD_TEST),
    ];
    let story = |id, criterion, implement: &str, write_tests: &str, tests| Story {
        id,
        criterion,
        implement: implement.to_owned(),
        write_tests: write_tests.to_owned(),
        tests,
    };
    let setup = format!(
        "setup = \"{}\"\ntypecheck = \"npm run typecheck\"\nlint = \"npm run lint\"\ntest = \"npm test\"",
        node.setup()
    );
    let stories = [
        story(
            "slug",
            "a title has a slug",
            SLUG,
            SLUG_TESTS,
            &["slug > joins words"],
        ),
        story(
            "tabs",
            "tabs part words too",
            SKIPPING,
            TAB_TESTS,
            &["cuts at tabs"],
        ),
        story(
            "nothing",
            "tabs are spaces",
            EXIT_ZERO,
            TAB_TESTS,
            &["cuts at tabs"],
        ),
    ];
    let stories = sample("typescript", &stories);
    let played = Project::new("typescript", &files, &setup).play(&stories);
    for story in &stories {
        let report = played.story(story.id);
        match story.id {
            "slug" => report.passed(
                &["slug > joins words", "slug > of nothing is nothing"],
                true,
                4,
            ),
            "tabs" => report
                .obliged(&["cuts at spaces", "finds nothing in nothing"])
                .refused(&["the implementor changed the existing test file `test/words.test.ts`"]),
            _ => report.refused(&["`package.json`: ", "new and red: cuts at tabs"]),
        };
    }
    if stories.iter().all(|story| story.id != "slug") {
        return assert_eq!(played.branches(), "", "nothing landed");
    }
    assert_eq!(played.landed(), ["slug"]);
    let files = [
        "package-lock.json",
        "package.json",
        "prd.json",
        "src/slug.ts",
        "src/words.ts",
        "test/slug.test.ts",
        "test/words.test.ts",
        "tsconfig.json",
    ];
    assert_eq!(played.files(), files);
}
