//! Pixels: their way into a file and back, other sizes, and simple shapes drawn into them.

mod draw;
mod pixels;
mod scale;

pub use draw::Colour;
pub use pixels::Picture;

#[cfg(test)]
mod tests;
