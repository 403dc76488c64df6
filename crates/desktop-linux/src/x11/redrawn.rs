//! Which of what was drawn looks different afterwards. Applications draw much again as it was: LibreOffice its whole window
//! after a dialog opened over it.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use deskhand_core::geometry::{Rect, Screen};
use x11rb::{
    NONE,
    protocol::xproto::{Atom, ConnectionExt as _},
    rust_connection::RustConnection,
};

use super::{capture::Camera, fault::WorkResult};

/// The side of the squares that are compared, in pixels.
const TILE: i32 = 16;
/// With more areas of one process, a bounding box stands for those that touch the same rows.
const AREAS_MAX: usize = 8;
/// What is drawn again so soon after it looked different counts: the application may have changed more of it meanwhile than it draws.
const UNSETTLED: Duration = Duration::from_secs(1);
/// How many bytes the X server sends for a pixel.
const PIXEL: usize = 4;

/// An area that was drawn, and the process whose window it is in, if that is known.
pub(crate) type DrawnArea = (Option<u32>, Rect<Screen>);

/// The screen as it was when drawn areas were last compared.
pub(crate) struct Redrawn {
    /// The selection that a compositing manager owns.
    compositor: Atom,
    screen: Rect<Screen>,
    /// Its pixels, row by row; empty before the first comparison.
    pixels: Vec<u8>,
    /// When tiles last looked different.
    different_at: HashMap<Tile, Instant>,
}

/// The column and row of a tile, counted from the top left of the screen.
type Tile = (i32, i32);

impl Redrawn {
    /// Of a screen of the server; nothing is known of it yet.
    ///
    /// # Errors
    /// If the server does not answer.
    pub(super) fn new(connection: &RustConnection, screen: usize) -> WorkResult<Self> {
        let compositor =
            connection.intern_atom(false, format!("_NET_WM_CM_S{screen}").as_bytes())?.reply()?.atom;
        let screen = Rect::new(0, 0, 0, 0);
        Ok(Self { compositor, screen, pixels: Vec::new(), different_at: HashMap::new() })
    }

    /// The parts of `areas` that look different than at the last call, in whole tiles. Everything counts as different at the
    /// first call, and with a compositing manager: it draws what the screen shows later than the application (EWMH,
    /// `_NET_WM_CM_Sn`).
    ///
    /// # Errors
    /// If the screen cannot be read.
    pub(crate) fn different(
        &mut self,
        camera: &mut Camera,
        (connection, root): (&RustConnection, u32),
        areas: Vec<DrawnArea>,
    ) -> WorkResult<Vec<DrawnArea>> {
        let Some(drawn) = areas.iter().map(|(_, area)| *area).reduce(|all, area| all.enclosing(&area)) else {
            return Ok(areas);
        };
        if connection.get_selection_owner(self.compositor)?.reply()?.owner != NONE {
            self.pixels.clear();
            return Ok(areas);
        }
        let geometry = connection.get_geometry(root)?.reply()?;
        let screen = Rect::new(0, 0, i32::from(geometry.width), i32::from(geometry.height));
        if self.pixels.is_empty() || self.screen != screen {
            self.pixels = camera.raw(connection, root, screen)?.to_vec();
            self.screen = screen;
            return Ok(areas);
        }
        let Some(region) = drawn.intersection(&screen) else { return Ok(Vec::new()) };
        let now = camera.raw(connection, root, region)?;
        Ok(self.compare(region, now, &areas, Instant::now()))
    }

    /// Compares the tiles of `areas` with what was there, and keeps what is there now: the pixels of a region.
    fn compare(
        &mut self,
        region: Rect<Screen>,
        pixels: &[u8],
        areas: &[DrawnArea],
        now: Instant,
    ) -> Vec<DrawnArea> {
        self.different_at.retain(|_, at| now.duration_since(*at) < UNSETTLED);
        let mut compared: BTreeMap<Tile, bool> = BTreeMap::new();
        let mut different: BTreeMap<Option<u32>, Vec<Tile>> = BTreeMap::new();
        for (pid, area) in areas {
            for tile in area.intersection(&region).iter().flat_map(tiles) {
                if *compared.entry(tile).or_insert_with(|| self.counts(tile, region, pixels, now)) {
                    different.entry(*pid).or_default().push(tile);
                }
            }
        }
        let joined = different.into_iter().flat_map(|(pid, mut tiles)| {
            tiles.sort_unstable_by_key(|(column, row)| (*row, *column));
            tiles.dedup();
            joined(&tiles).into_iter().map(move |area| (pid, area))
        });
        joined.collect()
    }

    /// Whether a tile that was drawn counts.
    fn counts(&mut self, tile: Tile, region: Rect<Screen>, pixels: &[u8], now: Instant) -> bool {
        if self.replace(tile, region, pixels) {
            self.different_at.insert(tile, now);
        }
        self.different_at.contains_key(&tile)
    }

    /// Keeps what is in a tile now; returns whether it is different.
    fn replace(&mut self, tile: Tile, region: Rect<Screen>, now: &[u8]) -> bool {
        let Some(part) = area_of(tile).intersection(&region) else { return false };
        let mut differs = false;
        for y in part.y..part.bottom() {
            let before = row_of(part, y, self.screen).and_then(|row| self.pixels.get_mut(row));
            let now = row_of(part, y, region).and_then(|row| now.get(row));
            let (Some(before), Some(now)) = (before, now) else { return true };
            if before != now {
                before.copy_from_slice(now);
                differs = true;
            }
        }
        differs
    }
}

/// Where the pixels of one row of a part are in the pixels of a region.
fn row_of(part: Rect<Screen>, y: i32, region: Rect<Screen>) -> Option<std::ops::Range<usize>> {
    let offset = |value: i32| usize::try_from(value).ok();
    let first = offset(y - region.y)? * offset(region.width)? + offset(part.x - region.x)?;
    Some(first * PIXEL..(first + offset(part.width)?) * PIXEL)
}

fn area_of((column, row): Tile) -> Rect<Screen> {
    Rect::new(column * TILE, row * TILE, TILE, TILE)
}

/// The tiles that an area of the screen touches.
fn tiles(area: &Rect<Screen>) -> impl Iterator<Item = Tile> + use<> {
    let columns = area.x / TILE..=(area.right() - 1) / TILE;
    let rows = area.y / TILE..=(area.bottom() - 1) / TILE;
    rows.flat_map(move |row| columns.clone().map(move |column| (column, row)))
}

/// Few areas that cover the tiles, which are sorted by rows.
fn joined(tiles: &[Tile]) -> Vec<Rect<Screen>> {
    let mut areas: Vec<Rect<Screen>> = Vec::new();
    for tile in tiles.iter().copied().map(area_of) {
        match areas.last_mut().filter(|last| last.y == tile.y && last.right() == tile.x) {
            Some(last) => last.width += tile.width,
            None => areas.push(tile),
        }
    }
    // What is as wide as the area above it belongs to it.
    let mut joined: Vec<Rect<Screen>> = Vec::new();
    for area in areas {
        let above = |above: &&mut Rect<Screen>| {
            above.bottom() == area.y && (above.x, above.width) == (area.x, area.width)
        };
        match joined.iter_mut().find(above) {
            Some(above) => above.height += area.height,
            None => joined.push(area),
        }
    }
    if joined.len() <= AREAS_MAX {
        return joined;
    }
    let mut bands: Vec<Rect<Screen>> = Vec::new();
    for area in joined {
        match bands.last_mut().filter(|band| band.bottom() >= area.y) {
            Some(band) => *band = band.enclosing(&area),
            None => bands.push(area),
        }
    }
    bands
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Rect<Screen> = Rect::new(0, 0, 100, 80);

    fn black(bytes: usize) -> Redrawn {
        Redrawn { compositor: 0, screen: SCREEN, pixels: vec![0; bytes], different_at: HashMap::new() }
    }

    /// A black screen, compared with one in which these pixels are white.
    fn check(white: &[(i32, i32)], areas: &[Rect<Screen>], expected: &[Rect<Screen>]) {
        let bytes = usize::try_from(SCREEN.width * SCREEN.height).unwrap() * PIXEL;
        let mut redrawn = black(bytes);
        let areas: Vec<DrawnArea> = areas.iter().map(|area| (Some(7), *area)).collect();
        let region = areas.iter().map(|(_, area)| *area).reduce(|all, area| all.enclosing(&area)).unwrap();
        let region = region.intersection(&SCREEN).unwrap();
        let mut now = vec![0; usize::try_from(region.width * region.height).unwrap() * PIXEL];
        for (x, y) in white {
            let row = row_of(Rect::new(*x, *y, 1, 1), *y, region).unwrap();
            now[row].fill(255);
        }
        let begun = Instant::now();
        let expected: Vec<DrawnArea> = expected.iter().map(|area| (Some(7), *area)).collect();
        assert_eq!(redrawn.compare(region, &now, &areas, begun), expected, "{white:?}");
        assert_eq!(redrawn.compare(region, &now, &areas, begun + UNSETTLED / 2), expected, "soon again");
        assert_eq!(redrawn.compare(region, &now, &areas, begun + UNSETTLED), Vec::new(), "later again");
    }

    #[test]
    fn what_is_drawn_again_as_it_was_does_not_count() {
        check(&[], &[SCREEN], &[]);
    }

    #[test]
    fn what_looks_different_counts_in_whole_tiles() {
        check(&[(0, 0)], &[SCREEN], &[Rect::new(0, 0, 16, 16)]);
        check(&[(99, 79)], &[SCREEN], &[Rect::new(96, 64, 16, 16)]);
        check(&[(20, 20), (40, 20)], &[SCREEN], &[Rect::new(16, 16, 32, 16)]);
        check(&[(20, 20), (20, 40)], &[SCREEN], &[Rect::new(16, 16, 16, 32)]);
        check(&[(31, 33)], &[Rect::new(30, 30, 5, 9)], &[Rect::new(16, 32, 16, 16)]);
        check(
            &[(20, 20)],
            &[Rect::new(-5, -5, 30, 30), Rect::new(90, 70, 50, 50)],
            &[Rect::new(16, 16, 16, 16)],
        );
    }

    #[test]
    fn many_areas_become_one_for_the_rows_that_they_share() {
        let steps: Vec<(i32, i32)> =
            (0..5).flat_map(|row| [(32 * (row % 2), row * 16), (64, row * 16)]).collect();
        let expected = [Rect::new(0, 0, 16, 16), Rect::new(32, 0, 16, 16)];
        check(&[(0, 0), (32, 0)], &[SCREEN], &expected);
        check(&[steps, vec![(96, 0), (96, 32), (96, 64)]].concat(), &[SCREEN], &[Rect::new(0, 0, 112, 80)]);
    }

    #[test]
    fn an_area_belongs_to_the_process_that_drew_it() {
        let bytes = usize::try_from(SCREEN.width * SCREEN.height).unwrap() * PIXEL;
        let mut redrawn = black(bytes);
        let (left, right) = (Rect::new(0, 0, 32, 16), Rect::new(16, 0, 32, 16));
        let found =
            redrawn.compare(SCREEN, &vec![255; bytes], &[(Some(1), left), (None, right)], Instant::now());
        assert_eq!(found, [(None, right), (Some(1), left)]);
    }
}
