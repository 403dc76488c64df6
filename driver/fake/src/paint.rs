//! Screenshots of the state: one rectangle for each element, so that a change of state changes pixels.

use std::hash::{DefaultHasher, Hash, Hasher};

use deskhand_desktop::Picture;
use deskhand_ui::geometry::{Rect, Screen};

use crate::stage::Stage;

type Colour = [u8; 3];

impl Stage {
    pub(crate) fn paint(&self) -> Picture {
        let (width, height) = (i32::from(self.screen.width), i32::from(self.screen.height));
        let region = Rect::new(0, 0, width, height);
        let size = usize::from(self.screen.width) * usize::from(self.screen.height) * 3;
        let mut picture = Picture { region, rgb: vec![40; size] };
        for window in &self.windows {
            if window.menu.is_some() {
                continue;
            }
            fill(&mut picture, window.plan.bounds, [230, 230, 230]);
            for (id, node) in &self.nodes {
                if node.window != window.id || node.parent.is_none() || !self.is_showing(*id) {
                    continue;
                }
                let plan = &node.plan;
                let mut hasher = DefaultHasher::new();
                (plan.name.as_str(), &plan.text, plan.states, window.focus == Some(*id)).hash(&mut hasher);
                plan.value.map(|value| value.current.to_bits()).hash(&mut hasher);
                if let Some(sheet) = &plan.sheet {
                    sheet.cells.hash(&mut hasher);
                    sheet.cursor.hash(&mut hasher);
                }
                let [red, green, blue, ..] = hasher.finish().to_le_bytes();
                fill(&mut picture, node.bounds, [red, green, blue]);
            }
        }
        picture
    }
}

fn fill(picture: &mut Picture, area: Rect<Screen>, colour: Colour) {
    let Some(area) = area.intersection(&picture.region) else { return };
    let whole = |length: i32| usize::try_from(length).unwrap_or(0);
    let stride = whole(picture.region.width) * 3;
    let rows = picture.rgb.chunks_mut(stride.max(1)).skip(whole(area.y)).take(whole(area.height));
    for row in rows {
        for pixel in row.chunks_mut(3).skip(whole(area.x)).take(whole(area.width)) {
            pixel.copy_from_slice(&colour);
        }
    }
}
