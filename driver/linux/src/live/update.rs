//! Updates of a screen, and their encoding.

use deskhand_ui::geometry::{Point, Rect, Screen, Size};

/// The first byte of a message.
const VERSION: u8 = 1;
/// The flag of a message that shows the whole screen.
const WHOLE: u8 = 1;

/// The changes on a screen since the previous update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenUpdate {
    /// `true` if it shows the whole screen: earlier updates no longer count.
    pub whole: bool,
    /// The size of the screen.
    pub screen: Size,
    /// Position of the pointer. Pictures do not contain it.
    pub pointer: Point<Screen>,
    /// The changed parts, at most 12; none if only the pointer moved. Parts can overlap and then agree.
    pub parts: Vec<ScreenUpdateRegion>,
}

/// A rectangle of the screen and its pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenUpdateRegion {
    /// Its area inside the screen, never empty.
    pub region: Rect<Screen>,
    /// The pixels as a PNG file, RGB with 8 bits a channel.
    pub png: Vec<u8>,
}

impl ScreenUpdate {
    /// The update as one binary message. All numbers are little endian:
    ///
    /// | bytes | content |
    /// | --- | --- |
    /// | 1 | the version of this format: 1 |
    /// | 1 | flags: bit 0 is set if the message shows the whole screen |
    /// | 2, 2 | width and height of the screen |
    /// | 2, 2 | x and y of the pointer |
    /// | 2 | the number of parts |
    ///
    /// and then for each part:
    ///
    /// | bytes | content |
    /// | --- | --- |
    /// | 2, 2, 2, 2 | x, y, width and height of its rectangle on the screen |
    /// | 4 | the size of the file that follows, in bytes |
    /// | so many | a PNG file |
    pub fn to_message(&self) -> Vec<u8> {
        let files: usize = self.parts.iter().map(|part| part.png.len().saturating_add(12)).sum();
        let mut message = Vec::with_capacity(files.saturating_add(12));
        message.extend([VERSION, if self.whole { WHOLE } else { 0 }]);
        let mut put =
            |numbers: &[u16]| numbers.iter().for_each(|number| message.extend(number.to_le_bytes()));
        put(&[self.screen.width, self.screen.height, short(self.pointer.x), short(self.pointer.y)]);
        put(&[u16::try_from(self.parts.len()).unwrap_or(u16::MAX)]);
        for part in self.parts.iter().take(usize::from(u16::MAX)) {
            let Rect { x, y, width, height, .. } = part.region;
            [x, y, width, height].iter().for_each(|number| message.extend(short(*number).to_le_bytes()));
            message.extend(u32::try_from(part.png.len()).unwrap_or(u32::MAX).to_le_bytes());
            message.extend(&part.png);
        }
        message
    }
}

/// A coordinate of a screen, which has no more than 65535 pixels a side.
fn short(coordinate: i32) -> u16 {
    u16::try_from(coordinate.max(0)).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_bytes_of_its_table() {
        let update = ScreenUpdate {
            whole: true,
            screen: Size { width: 0x0500, height: 0x0384 },
            pointer: Point::new(258, -4),
            parts: vec![
                ScreenUpdateRegion { region: Rect::new(1, 2, 3, 772), png: b"one".to_vec() },
                ScreenUpdateRegion { region: Rect::new(5, 6, 7, 8), png: Vec::new() },
            ],
        };
        #[rustfmt::skip]
        let expected = [
            1, 1, 0x00, 0x05, 0x84, 0x03, 2, 1, 0, 0, 2, 0,
            1, 0, 2, 0, 3, 0, 4, 3, 3, 0, 0, 0, b'o', b'n', b'e',
            5, 0, 6, 0, 7, 0, 8, 0, 0, 0, 0, 0,
        ];
        assert_eq!(update.to_message(), expected);
        let moved = ScreenUpdate { whole: false, parts: Vec::new(), ..update };
        assert_eq!(moved.to_message(), [1, 0, 0x00, 0x05, 0x84, 0x03, 2, 1, 0, 0, 0, 0]);
    }
}
