//! Pixels: encoding and decoding, scaling, and drawing simple shapes.

mod digits;
mod draw;
mod grey;
mod jpeg;
mod marks;
mod pixels;
mod scale;

pub use draw::Colour;
pub use grey::GreyPicture;
pub use marks::{ElementMark, MarkLabel};
pub use pixels::Picture;

#[cfg(test)]
mod tests;
