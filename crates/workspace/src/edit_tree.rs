//! Writes a tree that differs from another in some paths, in time that grows with the folders of these
//! paths and not with the tree: of every other folder only its id is read.

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};

use crate::blobs::Blobs;
use crate::conversation::Conversation;
use crate::entry::{Entry, Mode};
use crate::error::GitError;
use crate::id::TreeId;
use crate::loop_repo::LoopRepo;

/// The mode of a folder, as a tree object has it.
const FOLDER: &str = "40000";

/// One path, with what is there afterwards.
pub(crate) type EditedPath<'a> = (&'a [u8], Option<&'a Entry>);

impl LoopRepo {
    /// The tree with these edits. They must not want a file and a folder at one path.
    pub(crate) fn edit_tree(
        &self,
        before: &TreeId,
        edits: &[EditedPath<'_>],
    ) -> Result<TreeId, GitError> {
        if edits.is_empty() {
            return Ok(before.clone());
        }
        let mut top = EditedFolder::default();
        for (path, after) in edits {
            top.note(path, *after);
        }
        // One that waited may have died meanwhile; a new one tells what is really wrong.
        if let Some(waiting) = self.idle_tree_writer.take()
            && let Ok(tree) = self.edit_with(waiting, before, &top)
        {
            return Ok(tree);
        }
        let writer = Conversation::start(self.git().args(["mktree", "-z", "--batch"]))?;
        self.edit_with(writer, before, &top)
    }

    fn edit_with(
        &self,
        writer: Conversation,
        before: &TreeId,
        top: &EditedFolder<'_>,
    ) -> Result<TreeId, GitError> {
        let mut editor = Editor {
            trees: Blobs::of(self),
            writer,
            id_bytes: before.as_str().len() / 2,
        };
        let names = editor.edited(top, Some(before.as_str()))?;
        let tree = TreeId::parse(&editor.write(&names)?)?;
        self.idle_tree_writer.leave(editor.writer);
        Ok(tree)
    }
}

/// The edits in a folder and in those below it.
#[derive(Default)]
struct EditedFolder<'a> {
    names: BTreeMap<&'a [u8], Option<&'a Entry>>,
    folders: BTreeMap<&'a [u8], EditedFolder<'a>>,
}

impl<'a> EditedFolder<'a> {
    fn note(&mut self, path: &'a [u8], after: Option<&'a Entry>) {
        match path.iter().position(|byte| *byte == b'/') {
            Some(end) => {
                let folder = self.folders.entry(&path[..end]).or_default();
                folder.note(&path[end + 1..], after);
            }
            None => drop(self.names.insert(path, after)),
        }
    }
}

/// The names in one folder, each with its mode, as a tree object has it, and its id.
type Names = BTreeMap<Vec<u8>, (String, String)>;

struct Editor {
    trees: Blobs,
    writer: Conversation,
    id_bytes: usize,
}

impl Editor {
    /// What is in a folder after the edits; `before` is its id, if it was there.
    fn edited(
        &mut self,
        edits: &EditedFolder<'_>,
        before: Option<&str>,
    ) -> Result<Names, GitError> {
        let mut names = match before {
            Some(id) => self.read(id)?,
            None => Names::new(),
        };
        // A file that goes may make room for a folder, and a folder for a file.
        for (name, _) in edits.names.iter().filter(|(_, after)| after.is_none()) {
            names.remove(*name);
        }
        for (name, folder) in &edits.folders {
            let there = names.remove(*name).filter(|(mode, _)| mode == FOLDER);
            let inside = self.edited(folder, there.as_ref().map(|(_, id)| id.as_str()))?;
            // Git knows no empty folder.
            if !inside.is_empty() {
                let id = self.write(&inside)?;
                names.insert(name.to_vec(), (FOLDER.to_owned(), id));
            }
        }
        for (name, after) in &edits.names {
            if let Some(Entry { mode, id }) = after {
                names.insert(name.to_vec(), (mode.to_string(), id.to_string()));
            }
        }
        Ok(names)
    }

    fn read(&self, id: &str) -> Result<Names, GitError> {
        let content = self.trees.read_tree(id)?;
        parse(&content, self.id_bytes).ok_or_else(|| GitError::Garbled {
            command: format!("cat-file tree {id}"),
        })
    }

    fn write(&mut self, names: &Names) -> Result<String, GitError> {
        let mut question = Vec::new();
        for (name, (mode, id)) in names {
            question.extend_from_slice(format!("{mode:0>6} {} {id}\t", kind(mode)).as_bytes());
            question.extend_from_slice(name);
            question.push(0);
        }
        // An empty name ends a folder.
        question.push(0);
        let writer = &mut self.writer;
        let mut answer = String::new();
        writer
            .questions
            .write_all(&question)
            .and_then(|()| writer.questions.flush())
            .and_then(|()| writer.answers.read_line(&mut answer))
            .map_err(|error| self.writer.broke(error))?;
        Ok(answer.trim_end().to_owned())
    }
}

fn kind(mode: &str) -> &'static str {
    match mode {
        FOLDER => "tree",
        mode if mode == Mode::Submodule.as_str() => "commit",
        _ => "blob",
    }
}

/// Parses a tree object: for each name `mode name`, a zero byte, and the bytes of the id. Other tools
/// than git write a mode with a zero before it.
fn parse(mut content: &[u8], id_bytes: usize) -> Option<Names> {
    let mut names = Names::new();
    while !content.is_empty() {
        let space = content.iter().position(|byte| *byte == b' ')?;
        let end = content.iter().position(|byte| *byte == 0)?;
        let mode = std::str::from_utf8(&content[..space]).ok()?;
        let mode = mode.trim_start_matches('0');
        let name = content.get(space + 1..end)?;
        let id = content.get(end + 1..end + 1 + id_bytes)?;
        names.insert(name.to_vec(), (mode.to_owned(), hexadecimal(id)));
        content = &content[end + 1 + id_bytes..];
    }
    Some(names)
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.collect()
}
