//! New documents: what their files begin with.
//!
//! An empty file is a new document for editors, and for LibreOffice, which then saves it in the format of its name. Not so a
//! spreadsheet, a presentation and a drawing in the OpenDocument formats: from an empty file, LibreOffice 7.4 saves one as plain
//! XML. They begin as the smallest packages of their kind.

/// The mark of a file in a package, its entry in the list at the end, and that end (ZIP, APPNOTE 4.3).
const FILE: u32 = 0x0403_4b50;
const ENTRY: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// The version of ZIP that can read it.
const VERSION: u16 = 20;

/// Namespace declarations of each part.
const NAMESPACES: &str = "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
    xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" \
    xmlns:draw=\"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0\" \
    xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" office:version=\"1.2\"";

/// The OpenDocument types that begin as packages, with the content of a new document.
const PACKAGES: &[(&str, &str)] = &[
    ("application/vnd.oasis.opendocument.text", "<office:text><text:p/></office:text>"),
    (
        "application/vnd.oasis.opendocument.spreadsheet",
        "<office:spreadsheet><table:table table:name=\"Sheet1\"><table:table-row><table:table-cell/></table:table-row>\
         </table:table></office:spreadsheet>",
    ),
    (
        "application/vnd.oasis.opendocument.presentation",
        "<office:presentation><draw:page draw:name=\"page1\"/></office:presentation>",
    ),
    (
        "application/vnd.oasis.opendocument.graphics",
        "<office:drawing><draw:page draw:name=\"page1\"/></office:drawing>",
    ),
];

/// The file of a new document of this type.
pub(super) fn blank(mime: &str) -> Vec<u8> {
    let Some((_, content)) = PACKAGES.iter().find(|(known, _)| *known == mime) else { return Vec::new() };
    let manifest = format!(
        "<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\" manifest:version=\"1.2\">\
         <manifest:file-entry manifest:full-path=\"/\" manifest:media-type=\"{mime}\"/>\
         <manifest:file-entry manifest:full-path=\"content.xml\" manifest:media-type=\"text/xml\"/></manifest:manifest>"
    );
    let content = format!(
        "<office:document-content {NAMESPACES}><office:body>{content}</office:body></office:document-content>"
    );
    let header = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    // The type stands first, so that programs find it at a fixed place.
    package(&[
        ("mimetype", mime.to_owned()),
        ("content.xml", format!("{header}{content}")),
        ("META-INF/manifest.xml", format!("{header}{manifest}")),
    ])
}

/// A ZIP file with texts as they are.
fn package(files: &[(&str, String)]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    let length = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
    for (name, text) in files {
        let at = length(bytes.len());
        // Flags, method, time and date: none. Then the check sum and the length, compressed and not, of the text and of the name.
        let mut common =
            [VERSION, 0, 0, 0, 0x21].iter().flat_map(|one| one.to_le_bytes()).collect::<Vec<_>>();
        let size = length(text.len());
        common.extend([check_sum(text.as_bytes()), size, size].iter().flat_map(|one| one.to_le_bytes()));
        common.extend(length(name.len()).to_le_bytes());
        bytes.extend(FILE.to_le_bytes());
        bytes.extend(&common);
        bytes.extend(name.as_bytes());
        bytes.extend(text.as_bytes());
        list.extend(ENTRY.to_le_bytes());
        list.extend(VERSION.to_le_bytes());
        list.extend(&common);
        // Comment, disk and attributes: none.
        list.extend([0; 10]);
        list.extend(at.to_le_bytes());
        list.extend(name.as_bytes());
    }
    let count = u16::try_from(files.len()).unwrap_or(u16::MAX);
    let (start, size) = (length(bytes.len()), length(list.len()));
    bytes.extend(list);
    bytes.extend(END.to_le_bytes());
    bytes.extend([0, 0, count, count].iter().flat_map(|one| one.to_le_bytes()));
    bytes.extend([size, start].iter().flat_map(|one| one.to_le_bytes()));
    bytes.extend([0, 0]);
    bytes
}

/// CRC-32 of ISO 3309.
fn check_sum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    #[test]
    fn check_sums_are_those_of_the_standard() {
        assert_eq!(check_sum(b"123456789"), 0xcbf4_3926);
    }

    /// Another reader of ZIP finds every part whole.
    #[test]
    fn packages_are_read_by_others() {
        let folder = tempfile::tempdir().unwrap();
        for (mime, _) in PACKAGES {
            let file = folder.path().join("new");
            fs::write(&file, blank(mime)).unwrap();
            let test = Command::new("python3").args(["-m", "zipfile", "-t"]).arg(&file).output().unwrap();
            let said =
                String::from_utf8_lossy(&test.stdout).into_owned() + &String::from_utf8_lossy(&test.stderr);
            assert!(test.status.success() && !said.contains("corrupt"), "{mime}: {said}");
        }
        assert!(blank("text/plain").is_empty());
    }
}
