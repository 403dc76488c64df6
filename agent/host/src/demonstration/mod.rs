//! Demonstrations: a person works on a desktop, and what was done becomes a workflow and an example.
//!
//! [`Host::watch`] watches a [`Workspace`] until it is stopped. [`DemonstrationRecording::learn`] makes the draft of a workflow of it, and
//! [`DemonstrationRecording::keep`] keeps it as an experience, with a picture of each step. Passwords are in none of them.

mod example;
mod own;
mod pictures;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use deskhand_machine::command::ToolSpec;
use deskhand_runtime::{
    StopSwitch,
    demonstration::{DemonstratedActs, Demonstration, DemonstrationObserver, watch},
    learn::{LearnOptions, Unsure, WorkflowDraft, learn_shown},
};

pub(crate) use self::own::OwnTerminal;
use self::pictures::StepPictureWriter;
use crate::{
    Host, HostError, Workspace,
    knowledge::{Knowledge, KnowledgeError},
    workflows::{WorkflowFileError, named},
    workspace::WorkspaceError,
};

/// A demonstration that cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum DemonstrationError {
    /// Its pictures cannot be written.
    #[error("failed to write the pictures of the demonstration to {}", folder.display())]
    Pictures {
        /// Their folder.
        folder: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

/// Recording of a watched demonstration.
#[derive(Debug)]
pub struct DemonstrationRecording {
    /// The id of the demonstration.
    pub id: String,
    demonstration: Demonstration,
    request: String,
    documents: Vec<PathBuf>,
    tools: Vec<ToolSpec>,
    pictures: StepPictureWriter,
    own: OwnTerminal,
}

impl Host {
    /// Watches a person work on a desktop until it is stopped. `request` is what they say that it is about; `documents` were opened for it.
    ///
    /// # Errors
    /// The desktop cannot be watched, or the pictures cannot be written.
    pub async fn watch(
        &self,
        workspace: &Workspace,
        (request, documents): (&str, &[PathBuf]),
        stop: &StopSwitch,
        told: &mut dyn DemonstrationObserver,
    ) -> Result<DemonstrationRecording, HostError> {
        let id = uuid::Uuid::now_v7().to_string();
        let mut pictures = StepPictureWriter::begin(&self.knowledge(), &id)?;
        let mut inputs = workspace.back_end().watch_input().await.map_err(WorkspaceError::Desktop)?;
        let mut watching = RecordingObserver { told, pictures: &mut pictures };
        let watched = watch(&workspace.desktop, inputs.inputs(), stop, &mut watching).await;
        let demonstration = watched.map_err(WorkspaceError::Desktop)?;
        Ok(DemonstrationRecording {
            id,
            demonstration,
            request: request.to_owned(),
            documents: documents.to_vec(),
            tools: self.app_tools(),
            pictures,
            own: OwnTerminal::of_this_process(),
        })
    }
}

/// Tells the user, and keeps the pictures.
struct RecordingObserver<'a> {
    told: &'a mut dyn DemonstrationObserver,
    pictures: &'a mut StepPictureWriter,
}

impl DemonstrationObserver for RecordingObserver<'_> {
    fn begun(&mut self) {
        self.told.begun();
    }

    fn done(&mut self, inputs: usize) {
        self.told.done(inputs);
    }

    fn paused(&mut self, paused: bool) {
        self.told.paused(paused);
    }

    fn picture(&mut self, at: std::time::Instant, picture: deskhand_desktop::Picture) {
        self.pictures.add(at, picture);
    }
}

impl DemonstrationRecording {
    /// Returns the interpretation of the demonstration, and the draft of a workflow that repeats it. Nothing is
    /// written yet.
    ///
    /// # Errors
    /// Nothing was done that can be repeated, or the name does not fit.
    pub fn learn(&self, name: Option<&str>) -> Result<(DemonstratedActs, WorkflowDraft), HostError> {
        let leaves_out = |window: &deskhand_ui::WindowInfo| self.own.has(window);
        let shown = self.demonstration.shown(&self.request, &self.tools, &leaves_out);
        let mut documents: Vec<PathBuf> = self.documents.clone();
        for path in shown.documents.iter().map(PathBuf::from) {
            if documents.iter().all(|known| !is_same_file(known, &path)) {
                documents.push(path);
            }
        }
        let lesson = LearnOptions {
            name: name.unwrap_or_default().to_owned(),
            round: None,
            documents: documents.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
        };
        let drafted = learn_shown(shown.clone(), &self.request, &self.tools, &lesson, &self.id);
        let draft = without_passwords(&shown, drafted.map_err(WorkflowFileError::Shown)?)?;
        Ok((shown, named(draft, name)?))
    }

    /// Keeps it as an experience of a workflow, with a picture of each step. Returns the folder of the pictures.
    ///
    /// # Errors
    /// The experience or the pictures cannot be written.
    pub fn keep(
        self,
        shown: &DemonstratedActs,
        workflow: &str,
        knowledge: &Knowledge,
    ) -> Result<PathBuf, HostError> {
        let example = example::experience(&self.id, &self.request, shown, workflow);
        let example = shown.without_passwords(example).map_err(|error| unwritable(&error))?;
        let folder = self.pictures.keep(shown)?;
        knowledge.experiences()?.add(example).map_err(KnowledgeError::from)?;
        Ok(folder)
    }
}

/// A draft without the passwords that were typed.
fn without_passwords(
    shown: &DemonstratedActs,
    draft: WorkflowDraft,
) -> Result<WorkflowDraft, WorkflowFileError> {
    let hide = |text: String| shown.without_passwords(text).map_err(|error| unwritable(&error));
    let is_free = |unsure: &Unsure| hide(unsure.value.clone()).is_ok_and(|hidden| hidden == unsure.value);
    Ok(WorkflowDraft {
        workflow: shown.without_passwords(draft.workflow).map_err(|error| unwritable(&error))?,
        unsure: draft.unsure.into_iter().filter(is_free).collect(),
        notes: draft.notes.into_iter().map(hide).collect::<Result<_, _>>()?,
        provenance: draft.provenance,
    })
}

fn unwritable(error: &serde_json::Error) -> WorkflowFileError {
    let problem = format!("it cannot be written without a password: {error}");
    WorkflowFileError::Unwritable { name: "of the demonstration".to_owned(), problem }
}

/// Returns `true` if two paths name the same file, as far as it exists.
fn is_same_file(one: &Path, other: &Path) -> bool {
    one == other
        || fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}
