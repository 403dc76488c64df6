//! Pictures: into a file and back, smaller, drawn on.

use deskhand_core::geometry::Rect;

use super::{Colour, Picture};

const GREY: Colour = Colour([9, 9, 9]);

fn plain(width: i32, height: i32) -> Picture {
    let count = usize::try_from(width * height).unwrap();
    Picture { region: Rect::new(100, 50, width, height), rgb: vec![0; count * 3] }
}

/// The picture in letters: `#` for what was drawn.
fn rows(picture: &Picture) -> Vec<String> {
    let width = usize::try_from(picture.width()).unwrap();
    let rows = picture.rgb.chunks_exact(width * 3);
    rows.map(|row| row.chunks_exact(3).map(|pixel| if pixel == GREY.0 { '#' } else { '.' }).collect())
        .collect()
}

#[test]
fn a_file_holds_every_pixel() {
    let mut picture = plain(7, 5);
    picture.fill(&Rect::new(1, 2, 3, 2), Colour([1, 2, 3]));
    for file in [picture.to_png().unwrap(), picture.to_small_png().unwrap()] {
        assert_eq!(Picture::from_png(&file, picture.region).unwrap(), picture);
    }
    assert!(Picture::from_png(b"no picture", picture.region).is_err());
}

#[test]
fn what_is_drawn_outside_is_left_out() {
    let mut picture = plain(6, 4);
    picture.fill(&Rect::new(-2, 3, 4, 9), GREY);
    picture.fill(&Rect::new(4, -1, 9, 2), GREY);
    picture.fill(&Rect::new(20, 20, 9, 2), GREY);
    assert_eq!(rows(&picture), ["....##", "......", "......", "##...."]);
}

#[test]
fn an_outline_is_drawn_around_and_not_over() {
    let mut picture = plain(7, 5);
    picture.outline(&Rect::new(2, 2, 3, 1), 1, GREY);
    assert_eq!(rows(&picture), [".......", ".#####.", ".#...#.", ".#####.", "......."]);
}

#[test]
fn a_smaller_picture_has_the_mean_of_its_pixels() {
    let mut picture = plain(5, 4);
    picture.fill(&Rect::new(0, 0, 1, 2), Colour([200, 100, 40]));
    let small = picture.shrunk(2);
    assert_eq!((small.width(), small.height()), (2, 2));
    assert_eq!(small.rgb, [100, 50, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(picture.shrunk(1), picture);
    assert_eq!(picture.shrunk(9), picture, "too small to be made smaller");
}

#[test]
fn a_place_on_the_screen_is_found_in_the_picture() {
    let picture = plain(40, 30);
    assert_eq!(picture.place(&Rect::new(110, 60, 5, 5)), Some(Rect::new(10, 10, 5, 5)));
    assert_eq!(picture.place(&Rect::new(90, 40, 15, 15)), Some(Rect::new(0, 0, 5, 5)), "cut at the edge");
    assert_eq!(picture.place(&Rect::new(0, 0, 5, 5)), None);
}
