//! Numbers in a small built-in typeface: ten digits of 6 by 9 pixels, bold enough to be read in a scaled picture.

use deskhand_ui::geometry::{Image, Point, Rect};

use super::{Colour, Picture};

/// The width of a digit and the space after it, and its height.
const ADVANCE: i32 = 7;
const HEIGHT: i32 = 9;

/// A row of a digit is six bits, the left pixel first.
const DIGITS: [[u8; 9]; 10] = [
    [0b011110, 0b110011, 0b110011, 0b110011, 0b110011, 0b110011, 0b110011, 0b110011, 0b011110],
    [0b001100, 0b011100, 0b111100, 0b001100, 0b001100, 0b001100, 0b001100, 0b001100, 0b111111],
    [0b011110, 0b110011, 0b000011, 0b000011, 0b000110, 0b001100, 0b011000, 0b110000, 0b111111],
    [0b011110, 0b110011, 0b000011, 0b000011, 0b001110, 0b000011, 0b000011, 0b110011, 0b011110],
    [0b000011, 0b000111, 0b001111, 0b011011, 0b110011, 0b111111, 0b000011, 0b000011, 0b000011],
    [0b111111, 0b110000, 0b110000, 0b111110, 0b000011, 0b000011, 0b000011, 0b110011, 0b011110],
    [0b001110, 0b011000, 0b110000, 0b110000, 0b111110, 0b110011, 0b110011, 0b110011, 0b011110],
    [0b111111, 0b000011, 0b000011, 0b000110, 0b000110, 0b001100, 0b001100, 0b011000, 0b011000],
    [0b011110, 0b110011, 0b110011, 0b110011, 0b011110, 0b110011, 0b110011, 0b110011, 0b011110],
    [0b011110, 0b110011, 0b110011, 0b110011, 0b011111, 0b000011, 0b000011, 0b000110, 0b011100],
];

/// The size of a number in pixels.
pub(super) fn number_size(number: u32) -> (i32, i32) {
    let digits = i32::try_from(number.checked_ilog10().unwrap_or(0)).unwrap_or(0) + 1;
    (digits * ADVANCE - 1, HEIGHT)
}

impl Picture {
    /// Draws a number with its top left corner at `at`.
    pub fn write_number(&mut self, at: Point<Image>, number: u32, colour: Colour) {
        let mut left = at.x;
        for digit in number.to_string().bytes() {
            let Some(rows) = DIGITS.get(usize::from(digit.saturating_sub(b'0'))) else { continue };
            for (down, row) in (0..).zip(rows) {
                for across in 0..6 {
                    if row & (0b10_0000 >> across) != 0 {
                        self.fill(&Rect::new(left + across, at.y + down, 1, 1), colour);
                    }
                }
            }
            left += ADVANCE;
        }
    }
}
