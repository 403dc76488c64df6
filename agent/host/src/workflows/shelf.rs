//! The folder of workflows.

use std::{
    cmp::Reverse,
    fs,
    path::{Path, PathBuf},
};

use deskhand_machine::{
    provenance::Provenance,
    workflow::{StepChange, Workflow, WorkflowError, WorkflowOffer},
};
use deskhand_runtime::{InstructionKind, SealFolder, learn::WorkflowDraft};
use deskhand_ui::suggest::nearest;

use super::WorkflowFileError;
use crate::{
    instructions::Instructions,
    named_files::{names, write_whole},
};

/// Ending of a file with a proposed change.
const PROPOSED: &str = ".proposed.toml";
/// The largest file that is read, in bytes.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The folder of workflows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowFolder {
    folder: PathBuf,
    /// The seals of those that the user made or trusts; without them, all are strangers'.
    seals: Option<SealFolder>,
}

/// A workflow with its file.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredWorkflow {
    /// The workflow.
    pub workflow: Workflow,
    /// Its file.
    pub path: PathBuf,
    /// Its file as it was read.
    pub file: Instructions,
    /// `true` if a run proposes to change the workflow.
    pub is_proposed: bool,
}

impl WorkflowFolder {
    /// The workflows of this folder, which need not exist.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), seals: None }
    }

    /// The same, which knows by their seals which of them the user made or trusts.
    #[must_use]
    pub fn with_seals(self, seals: SealFolder) -> Self {
        Self { seals: Some(seals), ..self }
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
    pub fn find(&self, name: &str) -> Result<StoredWorkflow, WorkflowFileError> {
        let is_path = name.contains('/') || Path::new(name).extension().is_some_and(|kind| kind == "toml");
        let path = if is_path { PathBuf::from(name) } else { self.path_of(name) };
        if !is_path && !path.exists() {
            let names = self.names()?;
            let near = nearest(name, names.iter().map(String::as_str)).map(|near| format!("`{near}`"));
            let all = (!names.is_empty()).then(|| format!("one of {}", names.join(", ")));
            return Err(WorkflowFileError::Missing { name: name.to_owned(), near: near.or(all) });
        }
        self.read(&path, InstructionKind::Workflow)
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
    pub fn named(&self, name: &str) -> Result<StoredWorkflow, WorkflowFileError> {
        if !Workflow::is_name(name) {
            return Err(WorkflowFileError::Missing { name: name.to_owned(), near: None });
        }
        let mut found = self.find(name)?;
        name.clone_into(&mut found.workflow.name);
        Ok(found)
    }

    /// Lists the workflows for agents and others that could run them, sorted by name; the `most` that were changed
    /// last if there are more. Files that are no workflow are left out, and so are those that the user has not made
    /// or trusted.
    pub fn offers(&self, most: usize) -> Vec<WorkflowOffer> {
        let mut names = self.names().unwrap_or_default();
        let changed = |name: &String| fs::metadata(self.path_of(name)).and_then(|file| file.modified()).ok();
        names.sort_by_cached_key(|name| Reverse(changed(name)));
        let found = names.iter().filter_map(|name| self.named(name).ok());
        let users = found.filter(|found| found.file.provenance.is_users()).take(most);
        let mut offers: Vec<WorkflowOffer> = users.map(|found| found.workflow.offer()).collect();
        offers.sort_by(|one, other| one.name.cmp(&other.name));
        offers
    }

    /// Writes what was learnt, and seals it as what it was learnt from; `replaces` says whether one of its name may be replaced.
    ///
    /// # Errors
    /// As of [`Self::add`].
    pub fn add_learnt(&self, draft: &WorkflowDraft, replaces: bool) -> Result<PathBuf, WorkflowFileError> {
        self.add_made(&draft.workflow, draft.provenance, replaces)
    }

    /// Writes a new workflow that was made here, and seals it; `replaces` says whether one of its name may be replaced.
    ///
    /// # Errors
    /// There is one of its name, or it cannot be written.
    pub fn add(&self, workflow: &Workflow, replaces: bool) -> Result<PathBuf, WorkflowFileError> {
        self.add_made(workflow, Provenance::Made, replaces)
    }

    fn add_made(
        &self,
        workflow: &Workflow,
        provenance: Provenance,
        replaces: bool,
    ) -> Result<PathBuf, WorkflowFileError> {
        let path = self.path_of(&workflow.name);
        if path.exists() && !replaces {
            return Err(WorkflowFileError::Exists { name: workflow.name.clone(), path });
        }
        self.write((&path, InstructionKind::Workflow), workflow, provenance)?;
        Ok(path)
    }

    /// Looks among the seals of this shelf for that of a workflow as it was read.
    ///
    /// # Errors
    /// The seals cannot be read.
    pub fn recheck(&self, shelved: &mut StoredWorkflow) -> Result<(), WorkflowFileError> {
        let path = shelved.path.clone();
        let failed = |source| WorkflowFileError::Seal { path: path.clone(), source };
        self.seals.as_ref().map_or(Ok(()), |seals| shelved.file.recheck(seals)).map_err(failed)
    }

    /// Seals a workflow as it was read, as one that the user has looked at and trusts.
    ///
    /// # Errors
    /// The seal cannot be written, or there is no folder for it.
    pub fn trust(&self, shelved: &mut StoredWorkflow) -> Result<(), WorkflowFileError> {
        let path = shelved.path.clone();
        let failed = |source| WorkflowFileError::Seal { path: path.clone(), source };
        self.seals.as_ref().map_or(Ok(()), |seals| shelved.file.trust(seals)).map_err(failed)
    }

    /// Writes what a run proposes to change beside the workflow. Returns the file, or `None` if nothing of it fits.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn propose(
        &self,
        shelved: &StoredWorkflow,
        changes: &[StepChange],
    ) -> Result<Option<PathBuf>, WorkflowFileError> {
        let (changed, _) = shelved.workflow.changed(changes);
        if changed == shelved.workflow {
            return Ok(None);
        }
        let path = proposed(&shelved.path);
        self.write((&path, InstructionKind::Proposal), &changed, shelved.file.provenance)?;
        Ok(Some(path))
    }

    /// Returns the change that a run proposes for a workflow.
    ///
    /// # Errors
    /// Nothing is proposed, or the proposal cannot be read.
    pub fn proposed(&self, shelved: &StoredWorkflow) -> Result<StoredWorkflow, WorkflowFileError> {
        let path = proposed(&shelved.path);
        if !path.exists() {
            return Err(WorkflowFileError::NothingProposed { name: shelved.workflow.name.clone() });
        }
        self.read(&path, InstructionKind::Proposal)
    }

    /// Takes over what a run proposes, and returns who made the workflow now: a change that a run of the user's workflow has proposed, and
    /// that nobody changed since, leaves it the user's.
    ///
    /// # Errors
    /// Nothing is proposed, or the files cannot be written.
    pub fn accept(&self, shelved: &StoredWorkflow) -> Result<Provenance, WorkflowFileError> {
        let proposed = self.proposed(shelved)?;
        let provenance = proposed.file.provenance;
        self.write((&shelved.path, InstructionKind::Workflow), &proposed.workflow, provenance)?;
        Self::remove(&proposed.path)?;
        Ok(provenance)
    }

    /// Drops what a run proposes.
    ///
    /// # Errors
    /// Nothing is proposed, or the file cannot be removed.
    pub fn discard(&self, shelved: &StoredWorkflow) -> Result<(), WorkflowFileError> {
        Self::remove(&self.proposed(shelved)?.path)
    }

    fn remove(path: &Path) -> Result<(), WorkflowFileError> {
        let failed = |source| WorkflowFileError::File { what: "remove", path: path.to_owned(), source };
        fs::remove_file(path).map_err(failed)
    }

    /// Reads a workflow, once, and checks it.
    fn read(&self, path: &Path, kind: InstructionKind) -> Result<StoredWorkflow, WorkflowFileError> {
        let failed = |source| WorkflowFileError::File { what: "read", path: path.to_owned(), source };
        let file = Instructions::read(path, kind, BYTES_MAX, self.seals.as_ref()).map_err(failed)?;
        let text = file.text().map_err(failed)?;
        let form = |problem: String| WorkflowFileError::Form { path: path.to_owned(), problem };
        let workflow: Workflow = toml::from_str(text).map_err(|error| form(error.to_string()))?;
        let unfit = |problem| WorkflowFileError::Unfit { name: workflow.name.clone(), problem };
        workflow.check().map_err(unfit)?;
        let is_proposed = proposed(path).exists();
        Ok(StoredWorkflow { workflow, path: path.to_owned(), file, is_proposed })
    }

    /// Writes a workflow: the file appears whole or not at all. Then it is sealed, unless it is a stranger's.
    fn write(
        &self,
        (path, kind): (&Path, InstructionKind),
        workflow: &Workflow,
        provenance: Provenance,
    ) -> Result<(), WorkflowFileError> {
        let text = to_text(workflow)?;
        let failed = |source| WorkflowFileError::File { what: "write", path: path.to_owned(), source };
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        write_whole(path, text.as_bytes()).map_err(failed)?;
        let sealed =
            self.seals.as_ref().map_or(Ok(()), |seals| seals.vouch(kind, text.as_bytes(), provenance));
        sealed.map_err(|source| WorkflowFileError::Seal { path: path.to_owned(), source })
    }
}

/// The file of what is proposed for a workflow in a file.
fn proposed(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{stem}{PROPOSED}"))
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

impl StoredWorkflow {
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
        let shelf = WorkflowFolder::at(folder.path().join("workflows"))
            .with_seals(SealFolder::at(folder.path().join("seals")));
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
        let change = deskhand_machine::workflow::StepChange::Dialog {
            press: Box::new(deskhand_machine::workflow::selector::Selector {
                name: Some(deskhand_machine::workflow::selector::NamePattern::literal("OK")),
                ..press
            }),
            why: "it came".to_owned(),
            by: deskhand_machine::workflow::Healer::Rule,
        };
        assert!(matches!(shelf.proposed(&found), Err(WorkflowFileError::NothingProposed { .. })));
        shelf.propose(&found, std::slice::from_ref(&change)).unwrap().unwrap();
        let found = shelf.find("order").unwrap();
        assert!(found.is_proposed && found.workflow == order, "nothing is changed yet");
        assert_eq!(shelf.names().unwrap().len(), 2, "what is proposed is no workflow of its own");
        assert_eq!(shelf.accept(&found).unwrap(), Provenance::Made);
        let taken = shelf.find("order").unwrap();
        assert_eq!((taken.workflow.dialogs.len(), taken.is_proposed), (2, false));
        shelf.propose(&taken, &[]).unwrap();
        assert!(!shelf.find("order").unwrap().is_proposed, "there is nothing to propose");
    }
    #[test]
    fn a_workflow_is_the_users_as_long_as_nobody_else_changes_it() {
        let folder = tempfile::tempdir().unwrap();
        let seals = SealFolder::at(folder.path().join("seals"));
        let shelf = WorkflowFolder::at(folder.path().join("workflows")).with_seals(seals);
        let [_, order] = <[Workflow; 2]>::try_from(shown()).unwrap();
        let path = shelf.add(&order, /*replaces*/ false).unwrap();
        let found = || shelf.find("order").unwrap();
        assert_eq!(found().file.provenance, Provenance::Made);
        assert_eq!(shelf.offers(9).len(), 1);
        let text = fs::read_to_string(&path).unwrap();

        // Wherever it is, and whatever links there.
        let elsewhere = folder.path().join("elsewhere.toml");
        std::os::unix::fs::symlink(&path, &elsewhere).unwrap();
        assert_eq!(shelf.find(&elsewhere.to_string_lossy()).unwrap().file.provenance, Provenance::Made);

        // A change makes it a stranger's, until the user trusts what it is now; what was read is what is sealed.
        fs::write(&path, format!("{text}# changed\n")).unwrap();
        let mut changed = found();
        assert_eq!((changed.file.provenance, shelf.offers(9).len()), (Provenance::Stranger, 0));
        fs::write(&path, format!("{text}# exchanged\n")).unwrap();
        shelf.trust(&mut changed).unwrap();
        assert_eq!(changed.file.provenance, Provenance::Trusted);
        assert_eq!(found().file.provenance, Provenance::Stranger);
        fs::write(&path, format!("{text}# changed\n")).unwrap();
        assert_eq!(found().file.provenance, Provenance::Trusted);
        fs::write(&path, &text).unwrap();
        assert_eq!(found().file.provenance, Provenance::Made);

        // What a run proposes is the user's once it is taken over, unless somebody else has written it.
        let press = order.dialogs[0].press.clone();
        let name = deskhand_machine::workflow::selector::NamePattern::literal("OK");
        let change = StepChange::Dialog {
            press: Box::new(deskhand_machine::workflow::selector::Selector { name: Some(name), ..press }),
            why: "it came".to_owned(),
            by: deskhand_machine::workflow::Healer::Rule,
        };
        let proposed = shelf.propose(&found(), std::slice::from_ref(&change)).unwrap().unwrap();
        let written = fs::read_to_string(&proposed).unwrap();
        fs::rename(&proposed, &path).unwrap();
        assert_eq!(found().file.provenance, Provenance::Stranger, "nobody took it over");
        fs::write(&path, &text).unwrap();
        fs::write(&proposed, written.replace("OK", "Send")).unwrap();
        assert_eq!(shelf.accept(&found()).unwrap(), Provenance::Stranger);
        assert_eq!(found().file.provenance, Provenance::Stranger);
        fs::write(&path, &text).unwrap();
        fs::write(&proposed, &written).unwrap();
        assert_eq!(shelf.accept(&found()).unwrap(), Provenance::Made);
        assert_eq!(found().file.provenance, Provenance::Made);
    }
}
