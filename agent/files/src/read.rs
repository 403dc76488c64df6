//! Reads a file of any format that is known.

use std::{
    fs::{self, File},
    io::Read as _,
    path::Path,
};

use crate::{
    compose::DocumentText,
    content::{FileContent, Text},
    decode::{SAMPLE, is_binary},
    error::{FileParseError, FileReadError},
    format::{Format, Signature, extension, of_text, shown, signature},
    guard::guarded,
    office::{self, Package},
    options::{ContentForm, ReadOptions},
    pdf,
    tables::{Tables, tables_of},
    text::{self, TextSource},
};

/// Names of files that are text even if a few bytes are not.
const TEXT_EXTENSIONS: [&str; 7] = ["txt", "log", "csv", "tsv", "md", "json", "xml"];

/// Reads text or tables of a file. Blocking.
///
/// The format is recognised by the content, then by the extension. Memory and time are bounded whatever the
/// file contains; a panic of a parser is returned as an error.
///
/// # Errors
/// The file cannot be read, is of an unknown format, damaged, password protected or over a limit, or does not
/// have what the options ask for.
pub fn read(path: &Path, options: &ReadOptions) -> Result<FileContent, FileReadError> {
    guarded(path, || {
        let file = open(path)?;
        let opened = IdentifiedFile::recognise(file, path)?;
        let format = opened.format;
        opened.content(path, options).map_err(|fault| fault.at(path, format))
    })
}

/// The format of a file by its content, then by its extension. Blocking; reads at most its first 256 KiB, or
/// the directory of an archive.
///
/// # Errors
/// The file cannot be read, or its format is unknown.
pub fn format_of(path: &Path) -> Result<Format, FileReadError> {
    guarded(path, || Ok(IdentifiedFile::recognise(open(path)?, path)?.format))
}

/// Opens a regular file. Opening a pipe would wait for a writer, so the kind is checked first.
pub(crate) fn open(path: &Path) -> Result<File, FileReadError> {
    let metadata = fs::metadata(path).map_err(|error| FileReadError::file("read", path, error))?;
    if metadata.is_dir() {
        return Err(FileReadError::Kind {
            path: path.to_owned(),
            found: "a folder",
            next: "list it instead",
        });
    }
    if !metadata.is_file() {
        let next = "only regular files can be read";
        return Err(FileReadError::Kind { path: path.to_owned(), found: "a device, pipe or socket", next });
    }
    File::open(path).map_err(|error| FileReadError::file("read", path, error))
}

/// Up to `limit` bytes from the beginning of a file.
pub(crate) fn head(file: &File, limit: usize) -> std::io::Result<Vec<u8>> {
    use std::io::Seek as _;
    let mut bytes = Vec::new();
    let mut file = file;
    file.rewind()?;
    file.take(u64::try_from(limit).unwrap_or(u64::MAX)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file whose format is known.
struct IdentifiedFile {
    format: Format,
    source: FileSource,
}

/// The source from which the format is read.
enum FileSource {
    Text(TextSource),
    Package(Package),
    File(File),
}

impl IdentifiedFile {
    fn recognise(file: File, path: &Path) -> Result<Self, FileReadError> {
        let bytes = head(&file, SAMPLE).map_err(|error| FileReadError::file("read", path, error))?;
        let format = match signature(&bytes) {
            Signature::Zip => return Self::package(file).map_err(|fault| fault.at(path, Format::Zip)),
            Signature::Compound => return Self::compound(file, path, &bytes),
            Signature::Pdf => Format::Pdf,
            Signature::Gzip | Signature::Xz | Signature::Zstd => Format::Compressed,
            Signature::Tar => Format::Tar,
            Signature::Other => {
                let is_named_text = TEXT_EXTENSIONS.contains(&extension(path).as_str());
                if is_binary(&bytes) && !(is_named_text && is_mostly_text(&bytes)) {
                    return Err(unknown(path, &bytes));
                }
                let source = TextSource::new(file).map_err(|fault| fault.at(path, Format::Text))?;
                let format = of_text(path, &source.start);
                return Ok(Self { format, source: FileSource::Text(source) });
            }
        };
        Ok(Self { format, source: FileSource::File(file) })
    }

    fn package(file: File) -> Result<Self, FileParseError> {
        let mut package = Package::open(file)?;
        let format = package.format();
        Ok(Self { format, source: FileSource::Package(package) })
    }

    fn compound(file: File, path: &Path, bytes: &[u8]) -> Result<Self, FileReadError> {
        if office::is_encrypted_package(&file) {
            let format = match extension(path).as_str() {
                "xlsx" => Format::Xlsx,
                "pptx" => Format::Pptx,
                _ => Format::Docx,
            };
            return Err(FileParseError::PasswordProtected.at(path, format));
        }
        if office::is_workbook(&file) || extension(path) == "xls" {
            return Ok(Self { format: Format::Xls, source: FileSource::File(file) });
        }
        Err(unknown(path, bytes))
    }

    fn content(self, path: &Path, options: &ReadOptions) -> Result<FileContent, FileParseError> {
        let format = self.format;
        if options.pages.is_some() && !matches!(format, Format::Pdf | Format::Pptx | Format::Odp) {
            return Err(FileParseError::Unsupported("has no pages; give lines or cells instead".to_owned()));
        }
        if options.json_pointer.is_some() && format != Format::Json {
            return Err(FileParseError::Unsupported("is not JSON; leave out the JSON pointer".to_owned()));
        }
        match (self.source, format) {
            (FileSource::Text(source), _) => of_text_file(&source, format, options),
            (FileSource::Package(mut package), Format::Docx) => {
                of_document(office::docx(&mut package)?, format, options)
            }
            (FileSource::Package(mut package), Format::Pptx) => {
                of_document(office::pptx(&mut package)?, format, options)
            }
            (FileSource::Package(mut package), Format::Odt | Format::Odp) => {
                of_document(office::odf(&mut package)?, format, options)
            }
            (FileSource::Package(package), Format::Xlsx) => {
                of_tables(office::xlsx(package, options)?, options)
            }
            (FileSource::Package(mut package), Format::Ods) => {
                of_tables(office::ods(&mut package, options)?, options)
            }
            (FileSource::File(file), Format::Xls) => of_tables(office::xls(file, options)?, options),
            (FileSource::File(_), Format::Pdf) => match options.what {
                ContentForm::Table => Err(FileParseError::Unsupported(
                    "has no tables that are marked; read it as text".to_owned(),
                )),
                ContentForm::Auto | ContentForm::Text => {
                    of_document(pdf::document(path, options)?, format, options)
                }
            },
            (FileSource::Package(_) | FileSource::File(_), _) => Err(FileParseError::Unsupported(
                "has no text of its own; list its entries or unpack it".to_owned(),
            )),
        }
    }
}

/// A NUL here and there in a log does not make it binary.
fn is_mostly_text(bytes: &[u8]) -> bool {
    bytes.iter().filter(|byte| **byte == 0).count() * 100 <= bytes.len()
}

fn unknown(path: &Path, bytes: &[u8]) -> FileReadError {
    FileReadError::UnknownFormat { path: path.to_owned(), first_bytes: shown(bytes) }
}

fn of_text_file(
    source: &TextSource,
    format: Format,
    options: &ReadOptions,
) -> Result<FileContent, FileParseError> {
    match (format, options.what) {
        (Format::Delimited, ContentForm::Auto) | (Format::Text | Format::Delimited, ContentForm::Table) => {
            Ok(FileContent::Tables(text::delimited_tables(source, options)?))
        }
        (Format::Html, _) => of_document(text::html_document(source)?, format, options),
        (Format::Json, ContentForm::Auto | ContentForm::Text) => {
            Ok(FileContent::Text(text::json_text(source, options)?))
        }
        (_, ContentForm::Table) => {
            Err(FileParseError::Unsupported("has no tables; read it as text".to_owned()))
        }
        (_, ContentForm::Auto | ContentForm::Text) => {
            Ok(FileContent::Text(text::text(source, format, options)?))
        }
    }
}

fn of_document(
    document: DocumentText,
    format: Format,
    options: &ReadOptions,
) -> Result<FileContent, FileParseError> {
    match options.what {
        ContentForm::Table => Ok(FileContent::Tables(tables_of(format, document.tables, options)?)),
        ContentForm::Auto | ContentForm::Text => {
            Ok(FileContent::Text(text::of_document(&document, format, options)?))
        }
    }
}

/// Tables, or their Markdown if text is wanted.
fn of_tables(tables: Tables, options: &ReadOptions) -> Result<FileContent, FileParseError> {
    if options.what != ContentForm::Text {
        return Ok(FileContent::Tables(tables));
    }
    let text = tables.to_markdown(options.characters_max);
    let empty = Text {
        format: tables.format,
        encoding: None,
        text: String::new(),
        lines: None,
        lines_total: None,
        pages_total: None,
        left_out: tables.left_out,
        notes: Vec::new(),
    };
    Ok(FileContent::Text(text::of_string(&text, empty, options)?))
}
