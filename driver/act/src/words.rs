//! Words that are only drawn in a window, as they were read in its picture.

use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult, TreeLimits,
    alike::{essence, occurs},
};
use deskhand_ui::{Element, ElementQuery, ElementSource, WindowInfo, ids::WindowId, names_equal};

/// Maximum number of looks for words that may have to be drawn first.
pub(crate) const LOOKS_MAX: usize = 3;

/// The drawn words of a window, dialog or pop-up; none if it is gone, or nothing is read there.
pub(crate) async fn drawn_words<D: Desktop>(desktop: &D, surface: WindowId) -> DesktopResult<Vec<Element>> {
    let sight = match desktop.see(surface, TreeLimits::default()).await {
        Err(DesktopError::NoWindow(_) | DesktopError::NotAnswering { .. }) => return Ok(Vec::new()),
        other => other?,
    };
    Ok(sight.tree.elements.into_iter().filter(is_drawn_word).collect())
}

/// Returns `true` if an element was read in a picture.
pub(crate) fn is_drawn_word(one: &Element) -> bool {
    one.source != ElementSource::AtSpi && one.depth > 0 && !one.name.is_empty()
}

/// The drawn words with this name in the first of these windows that has them; else all words that are drawn there.
pub(crate) async fn find_drawn<D: Desktop>(
    desktop: &D,
    surfaces: impl IntoIterator<Item = &WindowInfo>,
    wanted: &ElementQuery,
) -> DesktopResult<Result<Element, Vec<String>>> {
    let mut names = Vec::new();
    for surface in surfaces {
        let drawn = drawn_words(desktop, surface.id).await?;
        if let Some(found) = called(&drawn, wanted) {
            return Ok(Ok(found.clone()));
        }
        names.extend(drawn.into_iter().map(|element| element.name));
    }
    Ok(Err(names))
}

/// The words with this name; else those that are the same but for spaces and for letters that look alike, or of which one of two is
/// overlooked.
pub(crate) fn called<'e>(drawn: &'e [Element], wanted: &ElementQuery) -> Option<&'e Element> {
    let name = wanted.name.as_deref()?;
    let of_role = || drawn.iter().filter(|one| wanted.role.as_ref().is_none_or(|role| *role == one.role));
    let same = |form: fn(&str) -> String| {
        let wanted = form(name);
        of_role().find(|one| !wanted.is_empty() && form(&one.name) == wanted)
    };
    of_role().find(|one| names_equal(&one.name, name)).or_else(|| same(essence)).or_else(|| same(single))
}

/// The essence of a text without doubled letters; digits stay.
fn single(text: &str) -> String {
    let mut letters: Vec<char> = text.to_lowercase().chars().collect();
    letters.dedup_by(|one, other| one == other && one.is_alphabetic());
    essence(&letters.into_iter().collect::<String>())
}

/// Returns `true` if words may be among the drawn ones, some of whose letters may be misread.
pub(crate) fn may_be_among(drawn: &[Element], wanted: &ElementQuery) -> bool {
    let Some(name) = wanted.name.as_deref().filter(|name| !essence(name).is_empty()) else { return false };
    drawn.iter().any(|one| occurs(name, &one.name))
}

#[cfg(test)]
mod tests {
    use deskhand_ui::{Role, ids::ElementId};

    use super::*;

    #[test]
    fn words_are_found_by_what_they_look_like_and_not_by_half_of_it() {
        let drawn = ["Save", "Save as...", "5ave a11", "Row 1", "Shel"].map(|words| Element {
            source: ElementSource::Ocr,
            depth: 1,
            ..Element::new(ElementId(1), Role::DRAWN_TEXT, words)
        });
        let check = |name: &str, expected: Option<&str>| {
            let found = called(&drawn, &ElementQuery::named(name)).map(|one| one.name.as_str());
            assert_eq!(found, expected, "{name}");
        };
        check("save", Some("Save"));
        check("Save As…", Some("Save as..."));
        check("Save all", Some("5ave a11"));
        check("Row1", Some("Row 1"));
        check("Row 2", None);
        check("Row 11", None);
        check("Shell", Some("Shel"));
        check("Sav", None);
        assert!(called(&drawn, &ElementQuery::new(Role::PUSH_BUTTON, "Save")).is_none());
        assert!(
            may_be_among(&drawn, &ElementQuery::named("Sawe"))
                && !may_be_among(&drawn, &ElementQuery::named("Print"))
        );
    }
}
