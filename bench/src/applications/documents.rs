//! The documents that applications open, made by hand.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use anyhow::{Context as _, Result};

/// A line of every text that is opened; it must still be there when the text was saved.
pub(super) const LINE: &str = "The first line stays as it is.";
/// A file that no application is told to change.
pub(super) const KEPT: &str = "kept.txt";

/// What an application opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Document {
    /// Nothing: it starts as it does.
    Nothing,
    /// A text.
    Text,
    /// A folder with a file and a folder.
    Folder,
    /// A picture.
    Picture,
    /// A page.
    Page,
    /// A document with one page.
    Pdf,
    /// A table.
    Table,
    /// A rich text of OpenDocument.
    Letter,
    /// A program, started by an interpreter, with this text.
    Script {
        /// Its file name.
        name: &'static str,
        /// Its text.
        text: &'static str,
    },
}

impl Document {
    /// The name of its file.
    pub(super) const fn file_name(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Text => Some("letter.txt"),
            Self::Folder => Some("papers"),
            Self::Picture => Some("picture.bmp"),
            Self::Page => Some("page.html"),
            Self::Pdf => Some("paper.pdf"),
            Self::Table => Some("table.csv"),
            Self::Letter => Some("letter.fodt"),
            Self::Script { name, .. } => Some(name),
        }
    }

    /// Makes it in a folder.
    pub(super) fn make(self, folder: &Path) -> Result<()> {
        fs::write(folder.join(KEPT), LINE).context("write a file")?;
        let Some(name) = self.file_name() else { return Ok(()) };
        let file = folder.join(name);
        match self {
            Self::Nothing => Ok(()),
            Self::Text => fs::write(&file, format!("{LINE}\n")),
            Self::Folder => fs::create_dir_all(file.join("drafts"))
                .and_then(|()| fs::write(file.join("report.txt"), LINE)),
            Self::Picture => fs::write(&file, bitmap()),
            Self::Page => fs::write(&file, PAGE),
            Self::Pdf => fs::write(&file, pdf()),
            Self::Table => fs::write(&file, format!("Item,Count\n{LINE},3\n")),
            Self::Letter => fs::write(&file, LETTER.replace("LINE", LINE)),
            Self::Script { text, .. } => fs::write(&file, text)
                .and_then(|()| fs::set_permissions(&file, Permissions::from_mode(0o755))),
        }
        .with_context(|| format!("write {}", file.display()))
    }
}

const PAGE: &str = "<!doctype html><title>Order form</title><h1>Order form</h1>\
    <label>Name <input id=name></label><select aria-label=Size><option>Small<option>Large</select>\
    <button onclick=\"document.title='Sent: '+document.getElementById('name').value\">Send</button>";

const LETTER: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.3"
 office:mimetype="application/vnd.oasis.opendocument.text">
<office:body><office:text><text:p>LINE</text:p></office:text></office:body></office:document>"#;

/// A bitmap of 64 by 48 pixels, red above blue: 54 bytes of header and three bytes a pixel, from below.
fn bitmap() -> Vec<u8> {
    const SIZE: (u32, u32) = (64, 48);
    let pixels = SIZE.0 * SIZE.1 * 3;
    let mut file = b"BM".to_vec();
    for number in [54 + pixels, 0, 54, 40, SIZE.0, SIZE.1] {
        file.extend(number.to_le_bytes());
    }
    file.extend([1, 0, 24, 0]);
    for number in [0, pixels, 2_835, 2_835, 0, 0] {
        file.extend(number.to_le_bytes());
    }
    for row in 0..SIZE.1 {
        let pixel: [u8; 3] = if row < SIZE.1 / 2 { [200, 0, 0] } else { [0, 0, 200] };
        (0..SIZE.0).for_each(|_| file.extend(pixel));
    }
    file
}

/// A document of one page with [`LINE`] on it.
fn pdf() -> String {
    let content = format!("BT /F1 18 Tf 72 700 Td ({LINE}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    let mut table = "0000000000 65535 f \n".to_owned();
    for (number, object) in (1..).zip(&objects) {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let start = file.len();
    let size = objects.len() + 1;
    format!(
        "{file}xref\n0 {size}\n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_the_form_of_their_types() {
        assert_eq!(bitmap().len(), 54 + 64 * 48 * 3);
        let pdf = pdf();
        let start: usize = pdf.lines().rev().nth(1).unwrap().parse().unwrap();
        assert!(pdf[start..].starts_with("xref\n"), "{pdf}");
    }
}
