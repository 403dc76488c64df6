//! XML as a stream of opened elements, closed ones and text. Entities of a document type are not expanded.

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use crate::error::FileParseError;

/// The most levels of elements.
const DEPTH_MAX: usize = 1_000;

/// A node of the stream.
pub(crate) enum XmlNode<'a> {
    Open(XmlElement<'a>),
    /// The end of an element, with its name and its prefix.
    Close(&'a str),
    Text(&'a str),
}

/// An element that is opened.
pub(crate) struct XmlElement<'a>(BytesStart<'a>);

/// The way to visit the content of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum XmlDescent {
    Into,
    /// Neither its content nor its end is visited.
    Skip,
}

impl XmlElement<'_> {
    /// Its name without the prefix.
    pub(crate) fn local(&self) -> &str {
        local(self.name())
    }

    /// Its name with the prefix.
    pub(crate) fn name(&self) -> &str {
        self.0.name().into_inner()
    }

    /// Value of an attribute, which is named with its prefix.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes();
        // Thousands of attributes in one element would take quadratic time.
        let attributes = attributes.with_checks(false);
        let found = attributes.flatten().take(1_000).find(|found| found.key.into_inner() == name)?;
        let value = quick_xml::escape::unescape(&found.value);
        Some(value.map_or_else(|_| found.value.to_string(), std::borrow::Cow::into_owned))
    }

    /// A number in an attribute.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.attribute(name)?.trim().parse().ok()
    }
}

/// The name without the prefix.
pub(crate) fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// Visits the nodes of a part. `part` is for error messages.
pub(crate) fn nodes(
    part: &str,
    xml: &str,
    mut visit: impl FnMut(XmlNode<'_>) -> Result<XmlDescent, FileParseError>,
) -> Result<(), FileParseError> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut depth = 0_usize;
    // The depth at which skipping ends.
    let mut skipped: Option<usize> = None;
    let damaged =
        |problem: &dyn ToString| FileParseError::Damaged(format!("{} in {part}", problem.to_string()));
    loop {
        let event = reader.read_event().map_err(|error| damaged(&error))?;
        match event {
            Event::Start(start) => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return Err(FileParseError::TooLarge(format!(
                        "{part} has more than {DEPTH_MAX} levels of elements"
                    )));
                }
                if skipped.is_none() && visit(XmlNode::Open(XmlElement(start)))? == XmlDescent::Skip {
                    skipped = Some(depth);
                }
            }
            Event::End(end) => {
                if skipped.is_none() {
                    visit(XmlNode::Close(end.name().into_inner()))?;
                } else if skipped == Some(depth) {
                    skipped = None;
                }
                depth = depth.saturating_sub(1);
            }
            Event::Eof if depth > 0 => return Err(damaged(&"the end is missing")),
            Event::Eof => return Ok(()),
            _ if skipped.is_some() => {}
            Event::Text(text) => {
                visit(XmlNode::Text(&text.xml10_content()))?;
            }
            Event::CData(text) => {
                visit(XmlNode::Text(&text.xml10_content()))?;
            }
            Event::GeneralRef(name) => {
                visit(XmlNode::Text(&reference(&name)))?;
            }
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

/// The character of `&lt;` or `&#60;`. Any other entity stays as it is written.
fn reference(name: &quick_xml::events::BytesRef<'_>) -> String {
    if let Ok(Some(character)) = name.resolve_char_ref() {
        return character.to_string();
    }
    let text: &str = name;
    match text {
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "amp" => "&".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        other => format!("&{other};"),
    }
}
