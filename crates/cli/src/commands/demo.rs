//! `loopwright demo`: a real loop on a small real repository, with scripted agents; no key, no
//! model, no network.
//!
//! Real git, real checks, a real journal and keepers. One story passes, one is rejected, retried
//! with the feedback and passes, one is skipped for a person. Only here may agents run that nobody
//! configured: they are our own scripts.

use std::fs;
use std::path::{Path, PathBuf};

use home::Home;

use super::jail;
use crate::args::StartArgs;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};

const PRD: &str = include_str!("../../demo/project/prd.json");
const TEST: &str = include_str!("../../demo/project/test.sh");
const FIRST_TEST: &str = include_str!("../../demo/project/tests/plan.sh");
const IMPLEMENTOR: &str = include_str!("../../demo/agents/implementor.sh");
const REVIEWER: &str = include_str!("../../demo/agents/reviewer.sh");
const JUDGE: &str = include_str!("../../demo/agents/judge.sh");

pub(crate) fn run(keep: Option<&Path>, output: &mut Output) -> Result<Exit, Failure> {
    let folder = make_folder(keep)?;
    let project = folder.join("project");
    fill(&folder, &project)?;
    output.talk(&format!(
        "== A small project with a PRD of three stories, in {}\n",
        project.display()
    ));
    let kind = jail::kind_for_demo();
    output.talk(&format!(
        "== A loop on it: scripted agents, real git, real checks. Agents and checks {}.\n",
        jail::words(kind.word())
    ));
    let home = Home::at(folder.join("state"));
    let prd = project.join("prd.json");
    let arguments = StartArgs {
        project: Some(project.clone()),
        prd: Some(prd),
        max_retries: Some(1),
        foreground: true,
        sandbox: Some(kind.word().to_owned()),
        // The project's file is committed, so that it cannot name files of this machine.
        set: vec![format!("sandbox.read={}", folder.join("agents").display())],
        ..StartArgs::default()
    };
    let exit = super::loops::start_in(&home, &arguments, output)?;
    output.command("demo");
    if exit == Exit::Interrupted {
        output.talk(&format!(
            "for these commands, set LOOPWRIGHT_HOME={}\n",
            home.root().display()
        ));
        return Ok(exit);
    }
    let view = super::loops::newest_in(&home)?;
    output.talk("\n== What landed, each commit judged before it did\n");
    for story in view
        .stories
        .iter()
        .filter_map(|story| Some((story.commit_sha.as_ref()?, &story.title)))
    {
        output.talk(&format!("{}  {}\n", &story.0[..12], story.1));
    }
    output.talk("\n== Look at it\n");
    let look = format!("git -C {} log -p {}", project.display(), view.branch);
    output.data(&format!("{look}\n"))?;
    output.talk(&format!(
        "LOOPWRIGHT_HOME={} loopwright story {} shout    # why it passed\n",
        home.root().display(),
        view.loop_id
    ));
    output.talk(&format!(
        "\n== All of it is in {0}. Nothing else was written; `rm -r {0}` removes it.\n",
        folder.display()
    ));
    output.next(NextAction::new(look, "read the accepted commits"));
    output.next(NextAction::new(
        "loopwright start --project P --prd F",
        "run a loop of your own",
    ));
    match exit {
        // One story is skipped on purpose: for a demo that is a good end.
        Exit::Unfinished | Exit::Done => Ok(Exit::Done),
        other => Ok(other),
    }
}

fn fault(attempt: &str, error: &dyn std::error::Error) -> Failure {
    Failure::environment(attempt, error)
}

/// A new folder: the one that was named, or a temporary one that is left for looking at.
fn make_folder(keep: Option<&Path>) -> Result<PathBuf, Failure> {
    match keep {
        Some(folder) => {
            fs::create_dir(folder).map_err(|error| {
                fault(
                    &format!("cannot make the folder `{}`", folder.display()),
                    &error,
                )
                .hint("name a folder that does not exist yet")
            })?;
            fs::canonicalize(folder).map_err(|error| fault("cannot find the new folder", &error))
        }
        None => {
            let scratch = tempfile::Builder::new()
                .prefix("loopwright-demo-")
                .tempdir();
            Ok(scratch
                .map_err(|error| fault("cannot make a folder", &error))?
                .keep())
        }
    }
}

fn fill(folder: &Path, project: &Path) -> Result<(), Failure> {
    let agents = folder.join("agents");
    let config = format!(
        "[agents.builder]\ncommand = [\"sh\", \"{0}/implementor.sh\"]\n\n\
         [agents.tester]\ncommand = [\"sh\", \"{0}/reviewer.sh\"]\n\n\
         [agents.judge]\ncommand = [\"sh\", \"{0}/judge.sh\"]\n\n\
         [roles.implementor]\nagent = \"builder\"\n\n[roles.reviewer]\nagent = \"tester\"\n\n\
         [roles.judge]\nagent = \"judge\"\n\n[checks]\ntest = \"sh test.sh\"\n",
        agents.display()
    );
    let files = [
        (agents.join("implementor.sh"), IMPLEMENTOR),
        (agents.join("reviewer.sh"), REVIEWER),
        (agents.join("judge.sh"), JUDGE),
        (project.join("prd.json"), PRD),
        (project.join("test.sh"), TEST),
        (project.join("tests/plan.sh"), FIRST_TEST),
        (project.join("loopwright.toml"), config.as_str()),
    ];
    for (path, text) in files {
        let parent = path.parent().unwrap_or(folder);
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
        written.map_err(|error| fault(&format!("cannot write `{}`", path.display()), &error))?;
    }
    workspace::init_repository(project, "chore: a small project")
        .map_err(|error| fault("cannot make a repository", &error))?;
    Ok(())
}
