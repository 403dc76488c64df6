//! The folder of workflows.

use std::{
    cmp::Reverse,
    fs,
    path::{Path, PathBuf},
};

use deskhand_core::{
    suggest::nearest,
    workflow::{StepChange, Workflow, WorkflowError, WorkflowOffer},
};

use super::WorkflowFileError;
use crate::named_files::{names, write_whole};

/// What a file with a proposed change ends with.
const PROPOSED: &str = ".proposed.toml";
/// The largest file that is read, in bytes.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The folder of workflows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelf {
    folder: PathBuf,
}

/// A workflow with its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Shelved {
    /// The workflow.
    pub workflow: Workflow,
    /// Its file.
    pub path: PathBuf,
    /// Whether a run proposes to change it.
    pub is_proposed: bool,
}

impl Shelf {
    /// The workflows of this folder, which need not exist.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of a workflow with this name.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.toml"))
    }

    /// The names of all workflows, sorted.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, WorkflowFileError> {
        let failed = |source| WorkflowFileError::File { what: "read", path: self.folder.clone(), source };
        names(&self.folder, ".toml").map_err(failed)
    }

    /// The workflow with a name, or of a file.
    ///
    /// # Errors
    /// There is none, or it cannot be read, or it is no workflow.
    pub fn find(&self, name: &str) -> Result<Shelved, WorkflowFileError> {
        let is_path = name.contains('/') || Path::new(name).extension().is_some_and(|kind| kind == "toml");
        let path = if is_path { PathBuf::from(name) } else { self.path_of(name) };
        if !is_path && !path.exists() {
            let names = self.names()?;
            let near = nearest(name, names.iter().map(String::as_str)).map(|near| format!("`{near}`"));
            let all = (!names.is_empty()).then(|| format!("one of {}", names.join(", ")));
            return Err(WorkflowFileError::Missing { name: name.to_owned(), near: near.or(all) });
        }
        read(&path)
    }

    /// Checks before any work that a workflow of this name could be written.
    ///
    /// # Errors
    /// The name is none, or there is one of it that may not be replaced.
    pub fn check_new(&self, name: &str, replaces: bool) -> Result<(), WorkflowFileError> {
        if !Workflow::is_name(name) {
            let problem = WorkflowError::Name { name: name.to_owned() };
            return Err(WorkflowFileError::Unfit { name: name.to_owned(), problem });
        }
        let path = self.path_of(name);
        if path.exists() && !replaces {
            return Err(WorkflowFileError::Exists { name: name.to_owned(), path });
        }
        Ok(())
    }

    /// The workflow with a name, under which its file is kept; never another file.
    ///
    /// # Errors
    /// There is none of this name, or its file is none.
    pub fn named(&self, name: &str) -> Result<Shelved, WorkflowFileError> {
        if !Workflow::is_name(name) {
            return Err(WorkflowFileError::Missing { name: name.to_owned(), near: None });
        }
        let mut found = self.find(name)?;
        name.clone_into(&mut found.workflow.name);
        Ok(found)
    }

    /// What is shown of the workflows to whoever could run them, sorted by name; the `most` that were changed last if there are more.
    /// Files that are no workflow are left out.
    pub fn offers(&self, most: usize) -> Vec<WorkflowOffer> {
        let mut names = self.names().unwrap_or_default();
        let changed = |name: &String| fs::metadata(self.path_of(name)).and_then(|file| file.modified()).ok();
        names.sort_by_cached_key(|name| Reverse(changed(name)));
        names.truncate(most);
        names.sort();
        names.iter().filter_map(|name| self.named(name).ok()).map(|found| found.workflow.offer()).collect()
    }

    /// Writes a new workflow; `replaces` says whether one of its name may be replaced.
    ///
    /// # Errors
    /// There is one of its name, or it cannot be written.
    pub fn add(&self, workflow: &Workflow, replaces: bool) -> Result<PathBuf, WorkflowFileError> {
        let path = self.path_of(&workflow.name);
        if path.exists() && !replaces {
            return Err(WorkflowFileError::Exists { name: workflow.name.clone(), path });
        }
        write(&path, workflow)?;
        Ok(path)
    }

    /// Writes what a run proposes to change beside the workflow. Returns the file, or `None` if nothing of it fits.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn propose(shelved: &Shelved, changes: &[StepChange]) -> Result<Option<PathBuf>, WorkflowFileError> {
        let (changed, _) = shelved.workflow.changed(changes);
        if changed == shelved.workflow {
            return Ok(None);
        }
        let path = proposed(&shelved.path);
        write(&path, &changed)?;
        Ok(Some(path))
    }

    /// What a run proposes for a workflow.
    ///
    /// # Errors
    /// Nothing is proposed, or it cannot be read.
    pub fn proposed(shelved: &Shelved) -> Result<Shelved, WorkflowFileError> {
        let path = proposed(&shelved.path);
        if !path.exists() {
            return Err(WorkflowFileError::NothingProposed { name: shelved.workflow.name.clone() });
        }
        read(&path)
    }

    /// Takes over what a run proposes, or drops it.
    ///
    /// # Errors
    /// Nothing is proposed, or the files cannot be written.
    pub fn settle(shelved: &Shelved, takes: bool) -> Result<(), WorkflowFileError> {
        let proposed = Self::proposed(shelved)?;
        let failed =
            |what, path: &Path, source| WorkflowFileError::File { what, path: path.to_owned(), source };
        if takes {
            fs::rename(&proposed.path, &shelved.path).map_err(|error| failed("replace", &shelved.path, error))
        } else {
            fs::remove_file(&proposed.path).map_err(|error| failed("remove", &proposed.path, error))
        }
    }
}

/// The file of what is proposed for a workflow in a file.
fn proposed(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{stem}{PROPOSED}"))
}

/// Reads a workflow and checks it.
fn read(path: &Path) -> Result<Shelved, WorkflowFileError> {
    let failed = |source| WorkflowFileError::File { what: "read", path: path.to_owned(), source };
    if fs::metadata(path).map_err(failed)?.len() > BYTES_MAX {
        let problem = format!("it is larger than {} MiB", BYTES_MAX / 1024 / 1024);
        return Err(WorkflowFileError::Form { path: path.to_owned(), problem });
    }
    let text = fs::read_to_string(path).map_err(failed)?;
    let form = |problem: String| WorkflowFileError::Form { path: path.to_owned(), problem };
    let workflow: Workflow = toml::from_str(&text).map_err(|error| form(error.to_string()))?;
    let unfit = |problem| WorkflowFileError::Unfit { name: workflow.name.clone(), problem };
    workflow.check().map_err(unfit)?;
    let is_proposed = proposed(path).exists();
    Ok(Shelved { workflow, path: path.to_owned(), is_proposed })
}

/// Writes a workflow: the file appears whole or not at all.
fn write(path: &Path, workflow: &Workflow) -> Result<(), WorkflowFileError> {
    let text = to_text(workflow)?;
    let failed = |source| WorkflowFileError::File { what: "write", path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    write_whole(path, text.as_bytes()).map_err(failed)
}

/// A workflow as its file has it.
fn to_text(workflow: &Workflow) -> Result<String, WorkflowFileError> {
    let unwritable = |problem: String| WorkflowFileError::Unwritable { name: workflow.name.clone(), problem };
    // A text that was read back is the same workflow.
    let text = toml::to_string_pretty(workflow).map_err(|error| unwritable(error.to_string()))?;
    let again: Workflow = toml::from_str(&text).map_err(|error| unwritable(error.to_string()))?;
    if again != *workflow {
        return Err(unwritable("it reads back differently".to_owned()));
    }
    Ok(text)
}

impl Shelved {
    /// The workflow as its file has it.
    ///
    /// # Errors
    /// It cannot be written as TOML.
    pub fn text(&self) -> Result<String, WorkflowFileError> {
        to_text(&self.workflow)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The files that the guide shows.
    fn shown() -> Vec<Workflow> {
        let guide = include_str!("../../../../docs/guides/workflows.md");
        let blocks = guide.split("```").filter_map(|block| block.strip_prefix("text\n"));
        blocks.map(|block| toml::from_str(block).unwrap_or_else(|error| panic!("{error}: {block}"))).collect()
    }

    #[test]
    fn the_files_of_the_guide_are_workflows() {
        let shown = shown();
        assert_eq!(shown.len(), 2);
        for workflow in shown {
            workflow.check().unwrap();
        }
    }

    #[test]
    fn workflows_are_added_listed_found_and_changed() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::at(folder.path().join("workflows"));
        assert_eq!(shelf.names().unwrap(), [""; 0], "the folder does not exist yet");
        let [chart, order] = <[Workflow; 2]>::try_from(shown()).unwrap();
        shelf.add(&chart, /*replaces*/ false).unwrap();
        let path = shelf.add(&order, /*replaces*/ false).unwrap();
        assert!(matches!(shelf.add(&chart, false), Err(WorkflowFileError::Exists { .. })));
        shelf.add(&chart, /*replaces*/ true).unwrap();
        assert_eq!(shelf.names().unwrap(), ["order", "quarterly-chart"]);
        let found = shelf.find("order").unwrap();
        assert_eq!((&found.workflow, found.is_proposed), (&order, false));
        assert_eq!(shelf.find(&path.to_string_lossy()).unwrap(), found);
        let missing = shelf.find("quarterly-charts").unwrap_err();
        assert!(missing.help().unwrap().contains("`quarterly-chart`"), "{missing}");
        // A value that is given is taken, another one is the default.
        let given = BTreeMap::from([("document".to_owned(), "x.ods".to_owned())]);
        assert!(chart.values(&given).is_err(), "the document is no parameter of the example");

        let press = order.dialogs[0].press.clone();
        let change = deskhand_core::workflow::StepChange::Dialog {
            press: Box::new(deskhand_core::workflow::selector::Selector {
                name: Some(deskhand_core::workflow::selector::NamePattern::literal("OK")),
                ..press
            }),
            why: "it came".to_owned(),
            by: deskhand_core::workflow::Healer::Rule,
        };
        assert!(matches!(Shelf::proposed(&found), Err(WorkflowFileError::NothingProposed { .. })));
        Shelf::propose(&found, std::slice::from_ref(&change)).unwrap().unwrap();
        let found = shelf.find("order").unwrap();
        assert!(found.is_proposed && found.workflow == order, "nothing is changed yet");
        assert_eq!(shelf.names().unwrap().len(), 2, "what is proposed is no workflow of its own");
        Shelf::settle(&found, /*takes*/ true).unwrap();
        let taken = shelf.find("order").unwrap();
        assert_eq!((taken.workflow.dialogs.len(), taken.is_proposed), (2, false));
        Shelf::propose(&taken, &[]).unwrap();
        assert!(!shelf.find("order").unwrap().is_proposed, "there is nothing to propose");
    }
}
