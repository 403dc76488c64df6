//! Pictures: encoding and decoding, scaling, drawing.

use deskhand_ui::geometry::{Image, Rect};

use super::{Colour, ElementMark, Picture};

const GREY: Colour = Colour([9, 9, 9]);

fn plain(width: i32, height: i32) -> Picture {
    let count = usize::try_from(width * height).unwrap();
    Picture { region: Rect::new(100, 50, width, height), rgb: vec![0; count * 3] }
}

/// The picture as text: `#` for what was drawn.
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
fn a_jpeg_file_is_smaller_and_nearly_equal() {
    // A gradient, as in photographs; text and frames are better as PNG.
    let mut picture = plain(320, 200);
    for (place, value) in picture.rgb.iter_mut().enumerate() {
        *value = u8::try_from((place / 3) % 320 * 255 / 320).unwrap() ^ u8::try_from(place % 3 * 20).unwrap();
    }
    let sizes = [95_u8, 60, 0].map(|quality| {
        let file = picture.to_jpeg(quality).unwrap();
        let back = Picture::from_file(&file, picture.region).unwrap();
        assert_eq!(back.region, picture.region);
        let off: u64 =
            back.rgb.iter().zip(&picture.rgb).map(|(one, other)| u64::from(one.abs_diff(*other))).sum();
        let mean = off / u64::try_from(picture.rgb.len()).unwrap();
        assert!(quality == 0 || mean < 8, "quality {quality}: {mean} off");
        file.len()
    });
    assert!(sizes[0] > sizes[1] && sizes[1] > sizes[2], "{sizes:?}");
    let png = picture.to_png().unwrap();
    assert_eq!(Picture::from_file(&png, picture.region).unwrap(), picture);
    assert!(Picture::from_file(b"\xff\xd8\xff no picture", picture.region).is_err());
    let broken = Picture { region: picture.region, rgb: vec![0; 3] };
    assert!(broken.to_jpeg(80).is_err());
}

#[test]
fn drawing_is_clipped_to_the_picture() {
    let mut picture = plain(6, 4);
    picture.fill(&Rect::new(-2, 3, 4, 9), GREY);
    picture.fill(&Rect::new(4, -1, 9, 2), GREY);
    picture.fill(&Rect::new(20, 20, 9, 2), GREY);
    assert_eq!(rows(&picture), ["....##", "......", "......", "##...."]);
}

#[test]
fn an_outline_is_drawn_around_its_area() {
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
    assert_eq!(picture.shrunk(9), picture, "too small to shrink");
}

#[test]
fn an_area_on_the_screen_is_found_in_the_picture() {
    let picture = plain(40, 30);
    assert_eq!(picture.place(&Rect::new(110, 60, 5, 5)), Some(Rect::new(10, 10, 5, 5)));
    assert_eq!(picture.place(&Rect::new(90, 40, 15, 15)), Some(Rect::new(0, 0, 5, 5)), "clipped");
    assert_eq!(picture.place(&Rect::new(0, 0, 5, 5)), None);
}

/// A window of 1920×1080: a grey background, and rows of small controls with content.
fn toolbars() -> (Picture, Vec<ElementMark>) {
    let mut picture = Picture { region: Rect::new(0, 0, 1920, 1080), rgb: vec![0xf0; 1920 * 1080 * 3] };
    let mut marks = Vec::new();
    for row in 0..3 {
        for column in 0..50 {
            let bounds = Rect::new(4 + column * 38, 40 + row * 60, 33, 35);
            let icon = Rect::new(bounds.x + 10, bounds.y + 10, 12, 12);
            picture.fill(&icon, Colour([0x20, 0x60, 0x20]));
            let number = u32::try_from(row * 50 + column).unwrap() + 100;
            marks.push(ElementMark { number, bounds });
        }
    }
    marks.push(ElementMark { number: 7, bounds: Rect::new(0, 300, 1800, 700) });
    (picture, marks)
}

#[test]
fn labels_cover_neither_each_other_nor_content() {
    let (mut picture, marks) = toolbars();
    let labels = picture.mark(&marks);
    assert_eq!(labels.len(), marks.len());
    for (at, label) in labels.iter().enumerate() {
        for other in &labels[at + 1..] {
            assert_eq!(label.area.intersection(&other.area), None, "{label:?} over {other:?}");
        }
        for mark in marks.iter().filter(|mark| mark.number >= 100) {
            let icon = Rect::new(mark.bounds.x + 10, mark.bounds.y + 10, 12, 12);
            assert_eq!(label.area.intersection(&icon), None, "{label:?} over the icon of {mark:?}");
        }
    }
}

/// A sheet whose cells are full of text, with a free row below them: the marks of its cells, and where their texts are.
fn dense_sheet() -> (Picture, Vec<ElementMark>, Vec<Rect<Image>>) {
    let mut picture = Picture { region: Rect::new(0, 0, 1280, 800), rgb: vec![0xff; 1280 * 800 * 3] };
    let (mut marks, mut texts) = (Vec::new(), Vec::new());
    for (row, column) in (0..36).flat_map(|row| (0..16).map(move |column| (row, column))) {
        let bounds = Rect::new(column * 80, row * 20, 80, 20);
        picture.fill(&Rect::new(bounds.x, bounds.bottom() - 1, 80, 1), Colour([0xc0; 3]));
        picture.fill(&Rect::new(bounds.right() - 1, bounds.y, 1, 20), Colour([0xc0; 3]));
        let text = Rect::new(bounds.x + 4, bounds.y + 5, 71, 11);
        for stroke in 0..23 {
            picture.fill(&Rect::new(text.x + stroke * 3, text.y, 2, 11), Colour([0x20; 3]));
        }
        let number = u32::try_from(row * 16 + column).unwrap() + 100;
        marks.push(ElementMark { number, bounds });
        texts.push(text);
    }
    (picture, marks, texts)
}

#[test]
fn a_dense_sheet_has_few_marks_and_none_over_a_text() {
    let (mut picture, marks, texts) = dense_sheet();
    let labels = picture.mark(&marks);
    assert!(labels.len() <= 40, "{} labels", labels.len());
    for (label, text) in labels.iter().flat_map(|label| texts.iter().map(move |text| (label, text))) {
        assert_eq!(label.area.intersection(text), None, "{label:?}");
    }
    // A field beside it has its mark, in the free place.
    let field = ElementMark { number: 7, bounds: Rect::new(600, 740, 300, 24) };
    let labels = picture.mark(&[&marks[..], &[field]].concat());
    assert!(labels.iter().any(|label| label.number == 7), "{labels:?}");
}

#[test]
fn labels_contrast_with_any_background_and_stay_inside() {
    for ground in [0x10, 0xf8] {
        let mut picture = Picture { region: Rect::new(5, 5, 200, 100), rgb: vec![ground; 200 * 100 * 3] };
        let marks = [
            ElementMark { number: 3, bounds: Rect::new(-10, -10, 60, 40) },
            ElementMark { number: 12345, bounds: Rect::new(150, 70, 90, 90) },
            ElementMark { number: 9, bounds: Rect::new(500, 500, 10, 10) },
        ];
        let labels = picture.mark(&marks);
        assert_eq!(labels.iter().map(|label| label.number).collect::<Vec<_>>(), [3, 12345]);
        for label in &labels {
            assert_eq!(label.area.intersection(&Rect::new(0, 0, 200, 100)), Some(label.area));
            let at = |x: i32, y: i32| usize::try_from((y * 200 + x) * 3).unwrap();
            let corner = at(label.area.x, label.area.y);
            let light = i32::from(picture.rgb[corner]) * 3
                + i32::from(picture.rgb[corner + 1]) * 6
                + i32::from(picture.rgb[corner + 2]);
            assert!((light / 10 - i32::from(ground)).abs() > 60, "{ground}: {light}");
        }
    }
}

#[test]
fn a_picture_fits_and_keeps_its_colours() {
    let mut picture = Picture { region: Rect::new(10, 20, 300, 200), rgb: vec![0; 300 * 200 * 3] };
    picture.fill(&Rect::new(0, 0, 150, 200), Colour([200, 100, 50]));
    let small = picture.fitted(100);
    assert_eq!((small.width(), small.height()), (100, 66));
    assert_eq!((&small.rgb[..3], &small.rgb[99 * 3..100 * 3]), (&[200, 100, 50][..], &[0, 0, 0][..]));
    assert_eq!(picture.fitted(300), picture);
    assert_eq!(picture.fitted(0), picture, "no limit");
    let odd = Picture { region: Rect::new(0, 0, 7, 3), rgb: (0..63).collect() }.fitted(5);
    assert_eq!(odd.rgb.len(), usize::try_from(odd.width() * odd.height() * 3).unwrap());
}
