//! Frames with random changes: every changed pixel is in a rectangle, and each rectangle is needed.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

const WIDTH: i32 = 150;
const HEIGHT: i32 = 110;

fn grey(level: u8) -> Picture {
    let pixels = length(WIDTH) * length(HEIGHT) * PIXEL;
    Picture { region: Rect::new(0, 0, WIDTH, HEIGHT), rgb: vec![level; pixels] }
}

/// The screen with some pixels of another colour, and a piece of it as it is read.
fn drawn(pixels: &HashSet<(i32, i32)>, area: Rect<Screen>) -> Picture {
    let mut rgb = Vec::new();
    for y in area.y..area.bottom() {
        for x in area.x..area.right() {
            rgb.extend(if pixels.contains(&(x, y)) { [9, 9, 8] } else { [9, 9, 9] });
        }
    }
    Picture { region: area, rgb }
}

fn rectangles(pixels: &HashSet<(i32, i32)>, read: &[Rect<Screen>]) -> Vec<Rect<Screen>> {
    let mut frame = ViewerFrame::new(grey(9));
    let mut changes = frame.unchanged();
    for area in read {
        frame.take_over(&drawn(pixels, *area), &mut changes);
    }
    let found = changes.rectangles();
    let whole = frame.part(&frame.region()).unwrap();
    assert_eq!(whole, drawn(pixels, whole.region), "the frame has the new pixels");
    found
}

#[test]
fn nothing_differs_in_a_frame_that_was_drawn_again() {
    assert_eq!(rectangles(&HashSet::new(), &[Rect::new(0, 0, WIDTH, HEIGHT)]), []);
}

#[test]
fn a_rectangle_has_no_row_or_column_without_a_change() {
    let all = [Rect::new(0, 0, WIDTH, HEIGHT)];
    assert_eq!(rectangles(&HashSet::from([(40, 50)]), &all), [Rect::new(40, 50, 1, 1)]);
    let line = (20..90).map(|x| (x, 33)).collect();
    assert_eq!(rectangles(&line, &all), [Rect::new(20, 33, 70, 1)]);
    let corners = HashSet::from([(0, 0), (WIDTH - 1, 0), (0, HEIGHT - 1), (WIDTH - 1, HEIGHT - 1)]);
    let mut found = rectangles(&corners, &all);
    found.sort();
    let mut expected: Vec<_> = corners.iter().map(|(x, y)| Rect::new(*x, *y, 1, 1)).collect();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_large_box_is_one_rectangle() {
    let area: HashSet<_> = (10..140).flat_map(|x| (5..100).map(move |y| (x, y))).collect();
    let found = rectangles(&area, &[Rect::new(0, 0, WIDTH, HEIGHT)]);
    assert_eq!(found, [Rect::new(10, 5, 130, 95)]);
}

#[test]
fn what_is_read_beside_the_frame_is_left_out() {
    let mut frame = ViewerFrame::new(grey(9));
    let mut changes = frame.unchanged();
    let outside = Rect::new(WIDTH - 2, HEIGHT - 2, 4, 4);
    let newer = Picture { region: outside, rgb: vec![1; 4 * 4 * PIXEL] };
    frame.take_over(&newer, &mut changes);
    assert_eq!(changes.rectangles(), [Rect::new(WIDTH - 2, HEIGHT - 2, 2, 2)]);
    let far = Picture { region: Rect::new(500, 500, 1, 1), rgb: vec![1; PIXEL] };
    frame.take_over(&far, &mut changes);
    assert_eq!(changes.rectangles().len(), 1);
}

#[test]
fn those_that_waste_least_are_merged_first() {
    let rows: Vec<_> = (0..20).map(|row| Rect::new(0, row * 2, 10, 1)).collect();
    let far = Rect::new(5_000, 5_000, 3, 3);
    let all: Vec<_> = rows.into_iter().chain([far]).collect();
    assert_eq!(merged(all, 2), [Rect::new(0, 0, 10, 39), far]);
}

proptest! {
    #[test]
    fn every_change_is_in_one_of_a_few_rectangles(
        pixels in prop::collection::hash_set((0..WIDTH, 0..HEIGHT), 0..60),
        cut in 1..WIDTH,
    ) {
        let read = [Rect::new(0, 0, cut, HEIGHT), Rect::new(cut, 0, WIDTH - cut, HEIGHT)];
        let found = rectangles(&pixels, &read);
        prop_assert!(found.len() <= RECTANGLES_MAX);
        for (x, y) in &pixels {
            let at = deskhand_ui::geometry::Point::new(*x, *y);
            prop_assert!(found.iter().any(|area| area.contains(&at)), "{x},{y} is in none of {found:?}");
        }
        for area in &found {
            prop_assert!(area.intersection(&read[0].enclosing(&read[1])) == Some(*area));
            let inside = |(x, y): &&(i32, i32)| area.contains(&deskhand_ui::geometry::Point::new(*x, *y));
            prop_assert!(pixels.iter().any(|pixel| inside(&pixel)), "{area:?} is not needed");
        }
    }
}
