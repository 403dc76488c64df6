//! Reads a file of any format that is known.

use std::{
    fs::{self, File},
    io::Read as _,
    path::Path,
};

use crate::{
    compose::Document,
    content::{Content, Text},
    decode::{SAMPLE, is_binary},
    error::{Fault, ReadError},
    format::{Format, Signature, extension, of_text, shown, signature},
    guard::guarded,
    office::{self, Package},
    options::{ReadOptions, What},
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
pub fn read(path: &Path, options: &ReadOptions) -> Result<Content, ReadError> {
    guarded(path, || {
        let file = open(path)?;
        let opened = Opened::recognise(file, path)?;
        let format = opened.format;
        opened.content(path, options).map_err(|fault| fault.at(path, format))
    })
}

/// The format of a file by its content, then by its extension. Blocking; reads at most its first 256 KiB, or
/// the directory of an archive.
///
/// # Errors
/// The file cannot be read, or its format is unknown.
pub fn format_of(path: &Path) -> Result<Format, ReadError> {
    guarded(path, || Ok(Opened::recognise(open(path)?, path)?.format))
}

/// Opens a regular file. Opening a pipe would wait for a writer, so the kind is checked first.
pub(crate) fn open(path: &Path) -> Result<File, ReadError> {
    let metadata = fs::metadata(path).map_err(|error| ReadError::file("read", path, error))?;
    if metadata.is_dir() {
        return Err(ReadError::Kind { path: path.to_owned(), found: "a folder", next: "list it instead" });
    }
    if !metadata.is_file() {
        let next = "only regular files can be read";
        return Err(ReadError::Kind { path: path.to_owned(), found: "a device, pipe or socket", next });
    }
    File::open(path).map_err(|error| ReadError::file("read", path, error))
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
struct Opened {
    format: Format,
    source: Source,
}

/// The source from which the format is read.
enum Source {
    Text(TextSource),
    Package(Package),
    File(File),
}

impl Opened {
    fn recognise(file: File, path: &Path) -> Result<Self, ReadError> {
        let bytes = head(&file, SAMPLE).map_err(|error| ReadError::file("read", path, error))?;
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
                return Ok(Self { format, source: Source::Text(source) });
            }
        };
        Ok(Self { format, source: Source::File(file) })
    }

    fn package(file: File) -> Result<Self, Fault> {
        let mut package = Package::open(file)?;
        let format = package.format();
        Ok(Self { format, source: Source::Package(package) })
    }

    fn compound(file: File, path: &Path, bytes: &[u8]) -> Result<Self, ReadError> {
        if office::is_encrypted_package(&file) {
            let format = match extension(path).as_str() {
                "xlsx" => Format::Xlsx,
                "pptx" => Format::Pptx,
                _ => Format::Docx,
            };
            return Err(Fault::PasswordProtected.at(path, format));
        }
        if office::is_workbook(&file) || extension(path) == "xls" {
            return Ok(Self { format: Format::Xls, source: Source::File(file) });
        }
        Err(unknown(path, bytes))
    }

    fn content(self, path: &Path, options: &ReadOptions) -> Result<Content, Fault> {
        let format = self.format;
        if options.pages.is_some() && !matches!(format, Format::Pdf | Format::Pptx | Format::Odp) {
            return Err(Fault::Unsupported("has no pages; give lines or cells instead".to_owned()));
        }
        if options.json_pointer.is_some() && format != Format::Json {
            return Err(Fault::Unsupported("is not JSON; leave out the JSON pointer".to_owned()));
        }
        match (self.source, format) {
            (Source::Text(source), _) => of_text_file(&source, format, options),
            (Source::Package(mut package), Format::Docx) => {
                of_document(office::docx(&mut package)?, format, options)
            }
            (Source::Package(mut package), Format::Pptx) => {
                of_document(office::pptx(&mut package)?, format, options)
            }
            (Source::Package(mut package), Format::Odt | Format::Odp) => {
                of_document(office::odf(&mut package)?, format, options)
            }
            (Source::Package(package), Format::Xlsx) => of_tables(office::xlsx(package, options)?, options),
            (Source::Package(mut package), Format::Ods) => {
                of_tables(office::ods(&mut package, options)?, options)
            }
            (Source::File(file), Format::Xls) => of_tables(office::xls(file, options)?, options),
            (Source::File(_), Format::Pdf) => match options.what {
                What::Table => {
                    Err(Fault::Unsupported("has no tables that are marked; read it as text".to_owned()))
                }
                What::Auto | What::Text => of_document(pdf::document(path, options)?, format, options),
            },
            (Source::Package(_) | Source::File(_), _) => {
                Err(Fault::Unsupported("has no text of its own; list its entries or unpack it".to_owned()))
            }
        }
    }
}

/// A NUL here and there in a log does not make it binary.
fn is_mostly_text(bytes: &[u8]) -> bool {
    bytes.iter().filter(|byte| **byte == 0).count() * 100 <= bytes.len()
}

fn unknown(path: &Path, bytes: &[u8]) -> ReadError {
    ReadError::UnknownFormat { path: path.to_owned(), first_bytes: shown(bytes) }
}

fn of_text_file(source: &TextSource, format: Format, options: &ReadOptions) -> Result<Content, Fault> {
    match (format, options.what) {
        (Format::Delimited, What::Auto) | (Format::Text | Format::Delimited, What::Table) => {
            Ok(Content::Tables(text::delimited_tables(source, options)?))
        }
        (Format::Html, _) => of_document(text::html_document(source)?, format, options),
        (Format::Json, What::Auto | What::Text) => Ok(Content::Text(text::json_text(source, options)?)),
        (_, What::Table) => Err(Fault::Unsupported("has no tables; read it as text".to_owned())),
        (_, What::Auto | What::Text) => Ok(Content::Text(text::text(source, format, options)?)),
    }
}

fn of_document(document: Document, format: Format, options: &ReadOptions) -> Result<Content, Fault> {
    match options.what {
        What::Table => Ok(Content::Tables(tables_of(format, document.tables, options)?)),
        What::Auto | What::Text => Ok(Content::Text(text::of_document(&document, format, options)?)),
    }
}

/// Tables, or their Markdown if text is wanted.
fn of_tables(tables: Tables, options: &ReadOptions) -> Result<Content, Fault> {
    if options.what != What::Text {
        return Ok(Content::Tables(tables));
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
    Ok(Content::Text(text::of_string(&text, empty, options)?))
}
