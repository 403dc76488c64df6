//! One task: done by a script, learnt, and done again.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;

use super::{
    desk,
    documents::{FORM, FORM_UPGRADED},
    home::{Home, Ran, Surroundings},
    posts::Posts,
    tasks::{Case, Task},
};

/// The desktop after an upgrade: another theme and a smaller screen.
const UPGRADED: Surroundings =
    Surroundings { theme: Some("HighContrast"), screen: Some("1280x800"), ..Surroundings::USUAL };
/// The desktop of a person who speaks another language, as far as the applications have it.
const TRANSLATED: Surroundings = Surroundings { language: "de_DE.UTF-8", ..Surroundings::USUAL };

/// The folder of the documents and results of a run.
const WORK: &str = "work";
/// The name that every workflow is learnt under; each task has a home folder of its own.
const WORKFLOW: &str = "learnt";

/// A run of a task, judged.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Judged {
    pub(super) ran: Ran,
    /// Whether it finished and the result is as it must be.
    pub(super) right: bool,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

/// What came of a task.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Trial {
    pub(super) task: String,
    pub(super) applications: String,
    /// Whether later runs have another document and other values.
    pub(super) changes: bool,
    /// The first run, by a script.
    pub(super) first: Judged,
    /// The runs of the workflow, in order.
    pub(super) again: Vec<Judged>,
    /// The run with another theme and screen, and upgraded forms.
    pub(super) upgraded: Option<Judged>,
    /// The run in another language.
    pub(super) translated: Option<Judged>,
    /// Why it ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

impl Trial {
    /// The first run of the workflow.
    pub(super) fn second(&self) -> Option<&Judged> {
        self.again.first()
    }
}

/// How the application is drawn in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Usual,
    Upgraded,
    Translated,
}

/// A task in its home folder.
pub(super) struct Trying<'a> {
    pub(super) task: &'a Task,
    pub(super) home: &'a Home,
    pub(super) posts: &'a Posts,
}

/// The files of a run.
#[derive(Debug, Clone, Default)]
struct Files {
    document: Option<PathBuf>,
    output: Option<PathBuf>,
    result: PathBuf,
}

impl Trying<'_> {
    /// Does the task, learns it, and does it again until `runs` runs are done; then once after an upgrade, and once in another language.
    pub(super) fn run(&self, runs: u32) -> Trial {
        let task = self.task;
        let mut trial = Trial {
            task: task.name.to_owned(),
            applications: task.applications.to_owned(),
            changes: task.changes,
            ..Trial::default()
        };
        if let Err(error) = self.run_into(&mut trial, runs) {
            trial.problem = Some(format!("{error:#}"));
        }
        trial
    }

    fn run_into(&self, trial: &mut Trial, runs: u32) -> Result<()> {
        trial.first = self.first()?;
        self.home.learn(WORKFLOW)?;
        let case = if self.task.changes { &self.task.other } else { &self.task.first };
        for _ in 1..runs {
            trial.again.push(self.again(case, Look::Usual)?);
        }
        trial.upgraded = Some(self.again(case, Look::Upgraded)?);
        trial.translated = Some(self.again(case, Look::Translated)?);
        Ok(())
    }

    /// The run by the script.
    fn first(&self) -> Result<Judged> {
        let case = &self.task.first;
        let files = self.prepare(case, Look::Usual)?;
        let script = self.home.write("script.toml", self.task.script)?;
        let mut options = vec!["--model".to_owned(), format!("script:{}", script.display())];
        if let Some(document) = &files.document {
            options.extend(["--open".to_owned(), document.display().to_string()]);
        }
        for (name, value) in values(case, &files) {
            options.extend(["--script-var".to_owned(), format!("{name}={value}")]);
        }
        let request =
            values(case, &files).into_iter().fold(self.task.request.to_owned(), |text, (name, value)| {
                text.replace(&format!("{{{name}}}"), &value)
            });
        let ran = self.home.session("run", &Surroundings::USUAL, &options, &[request])?;
        Ok(self.judged(ran, case, &files))
    }

    /// A run of the workflow.
    fn again(&self, case: &Case, look: Look) -> Result<Judged> {
        // The values of the first run by which its parameters are known; their files are at the same place.
        let learnt = values(&self.task.first, &self.files(&self.task.first));
        let files = self.prepare(case, look)?;
        let given: BTreeMap<String, String> = values(case, &files).into_iter().collect();
        let mut parameters = Vec::new();
        for (parameter, example) in self.home.parameters(WORKFLOW)? {
            let known = learnt.iter().find(|(_, value)| *value == example);
            if let Some(value) = known.and_then(|(name, _)| given.get(name)) {
                parameters.extend([format!("--{parameter}"), value.clone()]);
            }
        }
        let surroundings = match look {
            Look::Usual => Surroundings::USUAL,
            Look::Upgraded => UPGRADED,
            Look::Translated => TRANSLATED,
        };
        let then: Vec<String> = std::iter::once(WORKFLOW.to_owned()).chain(parameters).collect();
        let options = ["--heal".to_owned(), "off".to_owned()];
        let ran = self.home.session("do", &surroundings, &options, &then)?;
        Ok(self.judged(ran, case, &files))
    }

    /// The files of a case; they need not be there.
    fn files(&self, case: &Case) -> Files {
        let file = |name: &str| self.home.path(WORK).join(name);
        let document = case.document.map(|document| file(document.name));
        let output = case.output.map(file);
        let result = output.clone().or_else(|| document.clone()).unwrap_or_else(|| self.home.path(desk::LOG));
        Files { document, output, result }
    }

    /// Empties the folder of the run and makes its documents and programs.
    fn prepare(&self, case: &Case, look: Look) -> Result<Files> {
        let work = self.home.path(WORK);
        if work.exists() {
            fs::remove_dir_all(&work).with_context(|| format!("empty {}", work.display()))?;
        }
        fs::create_dir_all(&work).with_context(|| format!("create {}", work.display()))?;
        // What an earlier run sent belongs to that run.
        self.posts.take();
        let form = match look {
            Look::Usual | Look::Translated => FORM,
            Look::Upgraded => FORM_UPGRADED,
        };
        let form = form.replace("PORT", &self.posts.port().to_string());
        if let Some(document) = case.document {
            document.make(self.home, WORK, &form)?;
        }
        if let Some(toolkit) = self.task.desk {
            let mut layout = desk::layout(toolkit)?;
            if look == Look::Upgraded {
                desk::upgrade(&mut layout)?;
            }
            desk::install(self.home, &layout, &[])?;
        }
        Ok(self.files(case))
    }

    fn judged(&self, ran: Ran, case: &Case, files: &Files) -> Judged {
        let found = self.task.reading.read(&files.result, self.home, self.posts);
        let problem = match found {
            _ if !ran.is_finished() => Some(format!("{}: {}", ran.summary.outcome, ran.summary.reason)),
            Ok(found) if is_same(&found, case.expected) => None,
            Ok(found) => Some(format!("the result is {found:?}")),
            Err(error) => Some(format!("{error:#}")),
        };
        Judged { ran, right: problem.is_none(), problem }
    }
}

/// Returns `true` if a result is the expected one. The fields of a page's order have no order.
fn is_same(found: &str, expected: &str) -> bool {
    let fields = |text: &str| {
        let mut fields: Vec<String> = text.split('&').map(str::to_owned).collect();
        fields.sort();
        fields
    };
    found == expected || expected.contains('&') && fields(found) == fields(expected)
}

/// The values of a case by name, with its files.
fn values(case: &Case, files: &Files) -> Vec<(String, String)> {
    let mut values: Vec<(String, String)> =
        case.values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    for (name, file) in [("document", &files.document), ("output", &files.output)] {
        values.extend(file.iter().map(|file| (name.to_owned(), file.display().to_string())));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_an_order_may_come_in_any_order() {
        assert!(is_same("b=2&a=1", "a=1&b=2"));
        assert!(!is_same("b=2&a=1\na=1&b=2", "a=1&b=2"));
        assert!(!is_same("B\nA", "A\nB"));
    }
}
