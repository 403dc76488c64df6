//! Which monitor of several a window is on.

/// The number of the monitor that most of an area is on, from 1; `None` if there are not several.
pub(crate) fn monitor_of(area: [i32; 4], monitors: &[[i32; 4]]) -> Option<u32> {
    let overlap = |monitor: &[i32; 4]| {
        let along = |at: i32, size: i32, other: i32, other_size: i32| {
            i64::from((at + size).min(other + other_size) - at.max(other)).max(0)
        };
        let ([x, y, width, height], [left, top, wide, high]) = (area, *monitor);
        along(x, width, left, wide) * along(y, height, top, high)
    };
    // Of equals the first one.
    let most = monitors.iter().enumerate().rev().max_by_key(|(_, monitor)| overlap(monitor));
    let (index, _) = most.filter(|(_, monitor)| monitors.len() > 1 && overlap(monitor) > 0)?;
    u32::try_from(index + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_on_the_monitor_that_shows_most_of_it() {
        let monitors = [[0, 0, 1920, 1080], [1920, 0, 1280, 1024]];
        let on = |area| monitor_of(area, &monitors);
        assert_eq!(on([10, 10, 800, 600]), Some(1));
        assert_eq!(on([1800, 10, 800, 600]), Some(2));
        assert_eq!(on([-700, 10, 800, 600]), Some(1));
        // Half and half: the first one. Beyond all of them: none.
        assert_eq!(on([1520, 0, 800, 600]), Some(1));
        assert_eq!(on([0, 5_000, 800, 600]), None);
        assert_eq!(monitor_of([10, 10, 800, 600], &monitors[..1]), None, "there are not several");
    }
}
