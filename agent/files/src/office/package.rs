//! An office document as a ZIP file of parts, with limits on what they expand to.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufReader, Read as _, Seek as _},
};

use zip::{ZipArchive, result::ZipError};

use super::xml::{XmlDescent, XmlNode, nodes};
use crate::{decode::to_text, error::FileParseError, format::Format};

/// The largest part, in bytes, expanded.
const PART_MAX: u64 = 128 * 1024 * 1024;
/// The most bytes of all parts that are read, expanded.
const TOTAL_MAX: u64 = 256 * 1024 * 1024;
/// The most parts.
const PARTS_MAX: usize = 50_000;

/// Parts of an office document.
pub(crate) struct Package {
    zip: ZipArchive<BufReader<File>>,
    bytes_left: u64,
}

/// A part that another one points to.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    /// The last part of its type, such as `notesSlide`.
    pub(crate) kind: String,
    /// Name of the part in the package.
    pub(crate) target: String,
}

impl Package {
    pub(crate) fn open(mut file: File) -> Result<Self, FileParseError> {
        file.rewind()?;
        let zip = ZipArchive::new(BufReader::new(file)).map_err(fault)?;
        if zip.len() > PARTS_MAX {
            return Err(FileParseError::TooLarge(format!(
                "it has {} parts, and {PARTS_MAX} is the limit",
                zip.len()
            )));
        }
        Ok(Self { zip, bytes_left: TOTAL_MAX })
    }

    /// Which office document it is, [`Format::Zip`] if it is none.
    pub(crate) fn format(&mut self) -> Format {
        let mime = self.find("mimetype").ok().flatten().unwrap_or_default();
        let of_mime = [
            ("application/vnd.oasis.opendocument.text", Format::Odt),
            ("application/vnd.oasis.opendocument.spreadsheet", Format::Ods),
            ("application/vnd.oasis.opendocument.presentation", Format::Odp),
        ];
        if let Some((_, format)) = of_mime.iter().find(|(start, _)| mime.starts_with(start)) {
            return *format;
        }
        let of_folder = [("word/", Format::Docx), ("xl/", Format::Xlsx), ("ppt/", Format::Pptx)];
        let main = self.main_part().unwrap_or_default();
        let found = of_folder.iter().find(|(folder, _)| main.starts_with(folder));
        found.map_or(Format::Zip, |(_, format)| *format)
    }

    /// Name of the part that an Office Open XML document starts with.
    pub(crate) fn main_part(&mut self) -> Result<String, FileParseError> {
        let relations = self.relations("")?;
        let main = relations.into_values().find(|relation| relation.kind == "officeDocument");
        main.map(|relation| relation.target).ok_or_else(|| FileParseError::damaged("it names no main part"))
    }

    /// Returns the targets of the part's relations, by id. Empty if it has none.
    pub(crate) fn relations(&mut self, part: &str) -> Result<HashMap<String, Relation>, FileParseError> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let path = resolve(folder, &format!("_rels/{name}.rels"));
        let mut found = HashMap::new();
        let Some(xml) = self.find(&path)? else { return Ok(found) };
        nodes(&path, &xml, |node| {
            if let XmlNode::Open(element) = node
                && element.local() == "Relationship"
                && element.attribute("TargetMode").as_deref() != Some("External")
                && let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target"))
            {
                let kind = element.attribute("Type").unwrap_or_default();
                let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                found.insert(id, Relation { kind, target: resolve(folder, &target) });
            }
            Ok(XmlDescent::Into)
        })?;
        Ok(found)
    }

    /// Text of a part.
    pub(crate) fn text(&mut self, name: &str) -> Result<String, FileParseError> {
        self.find(name)?.ok_or_else(|| FileParseError::damaged(format!("its part {name} is missing")))
    }

    /// Text of a part, `None` if it does not exist.
    pub(crate) fn find(&mut self, name: &str) -> Result<Option<String>, FileParseError> {
        let bytes = self.bytes(name)?;
        Ok(bytes.map(|bytes| to_text(&bytes)))
    }

    fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, FileParseError> {
        let limit = PART_MAX.min(self.bytes_left);
        let entry = match self.zip.by_name(name) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(fault(error)),
        };
        let mut bytes = Vec::new();
        // One byte more than is allowed, to see that there are more.
        entry.take(limit + 1).read_to_end(&mut bytes)?;
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if count > limit {
            return Err(too_large(name));
        }
        self.bytes_left -= count;
        Ok(Some(bytes))
    }

    /// Expands all parts whose name ends with `.xml` or `.rels` and forgets them: before a parser without
    /// limits gets the file.
    pub(crate) fn check_expanded(&mut self) -> Result<(), FileParseError> {
        let mut left = TOTAL_MAX;
        for index in 0..self.zip.len() {
            let entry = self.zip.by_index(index).map_err(fault)?;
            let name = String::from_utf8_lossy(entry.name_raw()).to_lowercase();
            if !name.ends_with(".xml") && !name.ends_with(".rels") {
                continue;
            }
            let limit = PART_MAX.min(left);
            let count = std::io::copy(&mut entry.take(limit + 1), &mut std::io::sink())?;
            if count > limit {
                return Err(too_large(&name));
            }
            left -= count;
        }
        Ok(())
    }

    /// Names of the parts that end with `end`, whatever their case.
    pub(crate) fn names_with(&self, end: &str) -> Vec<String> {
        let names = self.zip.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned());
        names.filter(|name| name.to_lowercase().ends_with(end)).collect()
    }

    pub(crate) fn into_file(self) -> BufReader<File> {
        self.zip.into_inner()
    }
}

fn too_large(name: &str) -> FileParseError {
    FileParseError::TooLarge(format!(
        "its part {name} expands too far: {PART_MAX} bytes for one part and {TOTAL_MAX} for all \
         are the limits"
    ))
}

/// Converts an error of the ZIP library.
pub(crate) fn fault(error: ZipError) -> FileParseError {
    if let ZipError::Io(error) = error {
        return FileParseError::Io(error);
    }
    let is_encrypted = matches!(
        error,
        ZipError::InvalidPassword | ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)
    );
    if is_encrypted { FileParseError::PasswordProtected } else { FileParseError::damaged(error) }
}

/// A name relative to a folder of the package, or from its root if it starts with `/`.
fn resolve(folder: &str, target: &str) -> String {
    let folder = if target.starts_with('/') { "" } else { folder };
    let mut path: Vec<&str> = Vec::new();
    for step in folder.split('/').chain(target.split('/')) {
        match step {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            step => path.push(step),
        }
    }
    path.join("/")
}
