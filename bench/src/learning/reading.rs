//! What a run left, as text: files as they are, or as the office suite converts them.

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};

use super::{
    desk,
    home::{Home, Surroundings},
    posts::Posts,
};

/// The most text that is read of a file, in bytes.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// How the result of a task is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// A text as it is.
    Text,
    /// The cells of the first sheet, as the office suite writes them as CSV.
    Cells,
    /// The same of a spreadsheet that must have one chart.
    ChartedCells,
    /// The paragraphs of a document, as the office suite writes them as text.
    Paragraphs,
    /// The texts of slides, in the file itself.
    Slides,
    /// The orders that the page sent.
    Orders,
    /// The export in the log of the Parts Desk.
    Export,
}

impl Reading {
    /// The text of a result.
    pub(super) fn read(self, file: &Path, home: &Home, posts: &Posts) -> Result<String> {
        Ok(match self {
            Self::Text => text_of(file)?.trim_end().to_owned(),
            Self::Cells => converted(home, file, "csv")?,
            Self::ChartedCells => {
                let charts = xtask::ods::read(file)?.charts.len();
                ensure!(charts == 1, "{} has {charts} charts", file.display());
                converted(home, file, "csv")?
            }
            Self::Paragraphs => converted(home, file, "txt:Text")?,
            Self::Slides => slides(file)?,
            Self::Orders => posts.take(),
            Self::Export => desk::exports(&text_of(file)?),
        })
    }
}

fn text_of(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("read {}", file.display()))
}

/// The text of a file after the office suite has converted it.
fn converted(home: &Home, file: &Path, format: &str) -> Result<String> {
    let folder = home.path("converted");
    convert(home, file, &folder, &["--convert-to", format])?;
    let kind = format.split(':').next().unwrap_or(format);
    let path = folder.join(file.file_name().unwrap_or_default()).with_extension(kind);
    let text = text_of(&path)?;
    fs::remove_file(&path).with_context(|| format!("remove {}", path.display()))?;
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().map(str::trim_end).collect();
    Ok(lines.join("\n").trim().to_owned())
}

/// Runs the office suite without a window, with settings of its own.
pub(super) fn convert(home: &Home, file: &Path, folder: &Path, how: &[&str]) -> Result<PathBuf> {
    let mut command = home.command("soffice", &Surroundings::USUAL);
    command.arg(format!("-env:UserInstallation=file://{}", home.path("office").display()));
    command.arg("--headless").args(how).arg("--outdir").arg(folder).arg(file);
    let output = command.output().context("run soffice")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "soffice cannot convert {}: {}", file.display(), errors.trim());
    Ok(folder.to_owned())
}

/// The paragraphs of all slides.
fn slides(file: &Path) -> Result<String> {
    let archive = File::open(file).with_context(|| format!("open {}", file.display()))?;
    let mut archive = zip::ZipArchive::new(archive).context("read the presentation")?;
    let mut text = String::new();
    let content = archive.by_name("content.xml").context("find the slides")?;
    content.take(BYTES_MAX).read_to_string(&mut text).context("read the slides")?;
    Ok(paragraphs(&text))
}

/// The texts between the tags of paragraphs.
fn paragraphs(xml: &str) -> String {
    let inside = xml.split("<text:p").skip(1).filter_map(|part| part.split("</text:p>").next());
    let plain = |part: &str| {
        let (mut text, mut is_tag) = (String::new(), true);
        for character in part.chars() {
            match character {
                '<' => is_tag = true,
                '>' => is_tag = false,
                _ if is_tag => {}
                character => text.push(character),
            }
        }
        text
    };
    let texts: Vec<String> = inside.map(plain).filter(|text| !text.trim().is_empty()).collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_the_texts_between_their_tags() {
        let xml = "<a><text:p text:style-name=\"P1\"><text:span>Results</text:span> of May</text:p><text:p/><text:p>x</text:p></a>";
        assert_eq!(paragraphs(xml), "Results of May\nx");
    }
}
