//! The caret and the selection of texts.
//!
//! Places are counted in characters of what [`read_text`](super::details::read_text) returns: without embedded objects, and
//! in characters even where the toolkit counts UTF-16 units.

use deskhand_ui::ids::ElementId;

use super::{
    accessibility::Accessibility,
    bus::{AtspiCallError, Bus, CallResult, TEXT},
    details::EMBEDDED,
    quirks::AtspiToolkit,
    wire::ObjectRef,
};
use deskhand_desktop::DesktopResult;

impl Accessibility {
    /// The selected part of a text.
    pub(crate) async fn text_selection(&self, id: ElementId) -> DesktopResult<Option<(usize, usize)>> {
        const OPERATION: &str = "read the selected text";
        let known = self.known(id)?;
        let (bus, object) = (&self.shared.bus, &known.object);
        let read: CallResult<(i32, i32)> = bus.call(object, TEXT, "GetSelection", &0_i32).await;
        let (start, end) = match read {
            Ok((start, end)) => (start.min(end), start.max(end)),
            Err(AtspiCallError::NotOffered | AtspiCallError::Refused(_)) => return Ok(None),
            Err(error) => return Err(self.error(OPERATION, id, error)),
        };
        if start < 0 || start == end {
            return Ok(None);
        }
        let places =
            tokio::try_join!(characters_before(bus, object, start), characters_before(bus, object, end));
        let (start, end) = places.map_err(|error| self.error(OPERATION, id, error))?;
        Ok((start < end).then_some((start, end)))
    }

    /// The place of the caret in a text.
    pub(crate) async fn caret(&self, id: ElementId) -> DesktopResult<Option<usize>> {
        let known = self.known(id)?;
        let (bus, object) = (&self.shared.bus, &known.object);
        let read = async {
            let offset: i32 = bus.property(object, TEXT, "CaretOffset").await?;
            if offset < 0 { Ok(None) } else { characters_before(bus, object, offset).await.map(Some) }
        };
        match read.await {
            Ok(place) => Ok(place),
            Err(AtspiCallError::NotOffered | AtspiCallError::Refused(_)) => Ok(None),
            Err(error) => Err(self.error("read the place of the caret", id, error)),
        }
    }
}

/// The number of characters before an offset of the toolkit.
async fn characters_before(bus: &Bus, object: &ObjectRef, offset: i32) -> CallResult<usize> {
    if offset == 0 {
        return Ok(0);
    }
    let head: String = bus.call(object, TEXT, "GetText", &(0_i32, offset)).await?;
    Ok(head.chars().filter(|letter| *letter != EMBEDDED).count())
}

/// Selects the characters from `start` up to `end`.
pub(super) async fn select_text(
    bus: &Bus,
    object: &ObjectRef,
    toolkit: AtspiToolkit,
    (start, end): (usize, usize),
) -> CallResult<bool> {
    let length: i32 = bus.property(object, TEXT, "CharacterCount").await?;
    let text: String = bus.call(object, TEXT, "GetText", &(0_i32, length)).await?;
    let (start, end) = offsets(&text, length, (start, end));
    let count: i32 = bus.call(object, TEXT, "GetNSelections", &()).await?;
    if toolkit.has_broken_set_selection {
        for _ in 0..count.min(1) {
            bus.act::<_, bool>(object, TEXT, "RemoveSelection", &0_i32).await?;
        }
        bus.tell(object, TEXT, "AddSelection", &(start, end)).await?;
        // The application has handled the request once it has answered the next one.
        let selected: i32 = bus.call(object, TEXT, "GetNSelections", &()).await?;
        return Ok(selected > 0);
    }
    if count > 0 {
        bus.act(object, TEXT, "SetSelection", &(0_i32, start, end)).await
    } else {
        bus.act(object, TEXT, "AddSelection", &(start, end)).await
    }
}

/// The offsets of a toolkit, which reports the `length` of `text`, for a range of characters.
fn offsets(text: &str, length: i32, (start, end): (usize, usize)) -> (i32, i32) {
    let units = text.encode_utf16().count();
    let counts_units =
        units != text.chars().count() && i32::try_from(units).is_ok_and(|units| units == length);
    let (mut offset, mut seen) = (0, 0);
    let (mut from, mut to) = (None, 0);
    for letter in text.chars() {
        let is_embedded = letter == EMBEDDED;
        if seen == start && !is_embedded {
            from.get_or_insert(offset);
        }
        offset += if counts_units { letter.len_utf16() } else { 1 };
        if !is_embedded {
            seen += 1;
            if seen == end {
                to = offset;
            }
        }
    }
    let number = |at: usize| i32::try_from(at).unwrap_or(i32::MAX);
    (number(from.unwrap_or(offset)), number(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_as_the_toolkit_counts() {
        let check = |text: &str, length: i32, range: (usize, usize), expected: (i32, i32)| {
            assert_eq!(offsets(text, length, range), expected, "{text:?} {range:?}");
        };
        check("hello", 5, (1, 3), (1, 3));
        check("a\u{1f600}b", 3, (1, 3), (1, 3));
        check("a\u{1f600}b", 4, (1, 3), (1, 4));
        check("a\u{1f600}b", 4, (2, 3), (3, 4));
        check("\u{fffc}ab\u{fffc}cd", 6, (0, 2), (1, 3));
        check("\u{fffc}ab\u{fffc}cd", 6, (2, 4), (4, 6));
    }
}
