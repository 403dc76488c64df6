//! Tools for the document or page of a window, by the application's own interface ([`deskhand_desktop::Native`]): UNO of LibreOffice,
//! the protocols of browsers.
//!
//! They are a table ([`sheets`], [`texts`], [`slides`], [`any`], [`pages`]), since all of them do the same: pass their arguments on and return what
//! was read back. Names and parameters are those of the reference implementation where it has them. Each is offered to the AppAgents of
//! its applications alone.

mod any;
mod pages;
mod sheets;
mod slides;
mod texts;

use deskhand_desktop::{Desktop, Native as _, NativeAnswer, NativeCall, NativeEffect};
use deskhand_machine::{
    command::{CallResult, ToolListingLevel, ToolSpec},
    intent::Does,
};
use deskhand_ui::action::{ActionRoute, CallReport, Verdict};
use serde_json::{Map, Value};

use super::{
    declared::{DeclaredArgument, DeclaredTool},
    tool::{Answer, AnyTool, ToolContext, ToolOutput, failed, result_of},
};

/// Calc, by the root of its windows.
const CALC: &str = "libreoffice-calc";
/// Writer, with its documents for the web.
const WRITER: &str = "libreoffice-writer";
/// Impress.
const IMPRESS: &str = "libreoffice-impress";

/// A tool for documents.
pub(super) struct DocumentTool {
    declared: DeclaredTool,
    /// The name of the operation in the interface.
    operation: &'static str,
}

impl DocumentTool {
    const fn reads(name: &'static str, about: &'static str, arguments: &'static [DeclaredArgument]) -> Self {
        let only_in = &[CALC, WRITER, IMPRESS];
        let declared = DeclaredTool {
            name,
            about,
            does: Does::Read,
            listing: ToolListingLevel::Whole,
            only_in,
            arguments,
        };
        Self { declared, operation: name }
    }

    const fn edits(name: &'static str, about: &'static str, arguments: &'static [DeclaredArgument]) -> Self {
        Self::reads(name, about, arguments).does(Does::Set)
    }

    pub(super) const fn name(&self) -> &'static str {
        self.declared.name
    }

    /// Sets the effect of the tool, if that is neither reading nor editing.
    const fn does(mut self, does: Does) -> Self {
        self.declared.does = does;
        self
    }

    const fn only_in(mut self, applications: &'static [&'static str]) -> Self {
        self.declared.only_in = applications;
        self
    }

    /// Prompts list its name alone.
    const fn named(mut self) -> Self {
        self.declared.listing = ToolListingLevel::Name;
        self
    }

    /// Sets the name of the operation in the interface, if that differs from the tool's name.
    const fn operation(mut self, operation: &'static str) -> Self {
        self.operation = operation;
        self
    }

    /// Prompts do not list it; it is for those who know it from the reference.
    const fn unlisted(mut self, operation: &'static str) -> Self {
        self.declared.listing = ToolListingLevel::Nothing;
        self.operation = operation;
        self
    }
}

/// Those for documents, in prompt order.
pub(super) fn of_documents() -> impl Iterator<Item = &'static DocumentTool> {
    any::TOOLS.iter().chain(sheets::TOOLS).chain(texts::TOOLS).chain(slides::TOOLS)
}

/// Those for pages, in prompt order.
pub(super) fn of_pages() -> impl Iterator<Item = &'static DocumentTool> {
    pages::TOOLS.iter()
}

impl<D: Desktop> AnyTool<D> for &'static DocumentTool {
    fn spec(&self) -> ToolSpec {
        self.declared.spec()
    }

    fn acts(&self) -> bool {
        self.declared.does.acts()
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a ToolContext<'a, D>) -> Answer<'a> {
        Box::pin(async move {
            let acts = self.declared.does.acts();
            let window = match context.window() {
                Ok(window) => window,
                Err(error) => return failed(error, acts),
            };
            if let Some(name) = self.declared.missing(arguments) {
                let why = format!("`{name}` is needed; nothing was done");
                return CallResult::failure(acts.then_some(Verdict::Refused), why);
            }
            let mut arguments = arguments.clone();
            for (name, value) in &mut arguments {
                let path = value.as_str().filter(|_| self.declared.is_file(name));
                if let Some(path) = path.and_then(|path| context.places.absolute(path)) {
                    *value = path.into();
                }
            }
            let call = NativeCall { operation: self.operation.to_owned(), arguments };
            match context.desktop.native(window, &call).await {
                Ok(answer) => answered(answer, acts),
                Err(error) => failed(error.into(), acts),
            }
        })
    }
}

/// Converts the answer to a call into the result of a tool.
fn answered(answer: NativeAnswer, acts: bool) -> CallResult {
    match answer {
        NativeAnswer::Done { said, output, effect } => {
            let verdict = match &effect {
                Some(NativeEffect { seen: true, .. }) => Verdict::Seen,
                Some(NativeEffect { seen: false, .. }) => Verdict::NotSeen,
                // Nothing was read back: what reads needs no proof, and what acts has none.
                None if acts => Verdict::Unknown,
                None => Verdict::Seen,
            };
            // The proof follows in the same sentence.
            let did = said.trim_end_matches('.').to_owned();
            let report = CallReport::Native { did, read_back: effect.map(|effect| effect.read_back) };
            let route = Some(ActionRoute::Semantic);
            result_of(
                ToolOutput { effect: verdict, route, report, window: None, output, picture: None },
                acts,
            )
        }
        NativeAnswer::Refused(reason) => CallResult::failure(acts.then_some(Verdict::Refused), reason),
        NativeAnswer::Failed(reason) => CallResult::failure(acts.then_some(Verdict::Unknown), reason),
    }
}
