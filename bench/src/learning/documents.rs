//! The documents of the tasks.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use super::{home::Home, reading::convert};
use xtask::workspace;

/// The page's form, with its port to fill in.
pub(super) const FORM: &str = include_str!("../../fixtures/order_form.html");
/// The same after an upgrade of the site: fields in another order, in a group, with links before them and another look.
pub(super) const FORM_UPGRADED: &str = include_str!("../../fixtures/order_form_upgraded.html");
/// A presentation of one slide, with its title to fill in.
const SLIDES: &str = include_str!("../../fixtures/talk.fodp");

/// What a document is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A text file.
    Text(&'static str),
    /// A spreadsheet, from CSV.
    Sheet(&'static str),
    /// A text document, from HTML.
    Letter(&'static str),
    /// A presentation whose first slide has this title.
    Slides(&'static str),
    /// The document of the demo.
    Sales,
    /// The page with the form.
    Form,
}

/// A document of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Document {
    /// Its file name.
    pub(super) name: &'static str,
    pub(super) content: Content,
}

impl Document {
    /// Makes the document in a folder. What the office suite has to convert is made once for each task, and copied then.
    pub(super) fn make(&self, home: &Home, folder: &str, form: &str) -> Result<PathBuf> {
        let name = format!("{folder}/{}", self.name);
        match self.content {
            Content::Text(text) => home.write(&name, text),
            Content::Form => home.write(&name, form),
            Content::Sales => {
                self.copy(&workspace::root().join("examples/sales/sales.odt"), &home.path(&name))
            }
            Content::Sheet(csv) => self.converted(home, &name, (csv, "csv"), &["--convert-to", "ods"]),
            Content::Letter(html) => {
                let how = ["--infilter=HTML (StarWriter)", "--convert-to", "odt:writer8"];
                self.converted(home, &name, (html, "html"), &how)
            }
            Content::Slides(title) => {
                let text = SLIDES.replace("Untitled", title);
                self.converted(home, &name, (&text, "fodp"), &["--convert-to", "odp"])
            }
        }
    }

    fn converted(
        &self,
        home: &Home,
        name: &str,
        (text, kind): (&str, &str),
        how: &[&str],
    ) -> Result<PathBuf> {
        let made = home.path("documents").join(self.name);
        if !made.is_file() {
            let stem = self.name.rsplit_once('.').map_or(self.name, |(stem, _)| stem);
            let source = home.write(&format!("sources/{stem}.{kind}"), text)?;
            convert(home, &source, &home.path("documents"), how)?;
        }
        self.copy(&made, &home.path(name))
    }

    fn copy(&self, from: &Path, to: &Path) -> Result<PathBuf> {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        }
        fs::copy(from, to).with_context(|| format!("copy {} as {}", from.display(), self.name))?;
        Ok(to.to_owned())
    }
}
