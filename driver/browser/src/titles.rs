//! Finds the page of a window by its title.

/// Properties of a page for matching it with a window.
#[derive(Debug, Clone)]
pub(crate) struct TitleCandidate {
    pub(crate) title: String,
    pub(crate) url: String,
    /// `None` if the page does not answer, for example because its dialog is open.
    pub(crate) visible: Option<bool>,
    pub(crate) focused: bool,
}

/// Which page it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PageResolution {
    One(usize),
    /// The title fits all of these equally.
    Several(Vec<usize>),
    None,
}

/// Separators that browsers write between the title of a page and their own name.
const SEPARATORS: [&str; 3] = [" - ", " — ", " – "];
/// Titles that browsers display for a page without a title.
const UNTITLED: [&str; 4] = ["Untitled", "New Tab", "Mozilla Firefox", "Chromium"];

/// Chooses the page of a window.
pub(crate) fn choose(window_title: &str, candidates: &[TitleCandidate]) -> PageResolution {
    let window_title = normalised(window_title);
    let fitting = |visible_only: bool| {
        let fits: Vec<(usize, usize)> = candidates
            .iter()
            .enumerate()
            .filter(|(_, candidate)| !visible_only || candidate.visible != Some(false))
            .filter_map(|(index, candidate)| fit(&window_title, candidate).map(|length| (index, length)))
            .collect();
        // The longest title: "A" also begins the title of a window that shows "A - B".
        let longest = fits.iter().map(|(_, length)| *length).max();
        fits.into_iter()
            .filter(|(_, length)| Some(*length) == longest)
            .map(|(index, _)| index)
            .collect::<Vec<_>>()
    };
    let mut chosen = fitting(true);
    if chosen.is_empty() {
        // The page of a minimised window is not visible.
        chosen = fitting(false);
    }
    if chosen.is_empty() {
        // The title may just have changed.
        chosen = (0..candidates.len())
            .filter(|index| candidates.get(*index).is_some_and(|candidate| candidate.visible != Some(false)))
            .collect();
        return match chosen.as_slice() {
            [only] => PageResolution::One(*only),
            [] | [_, _, ..] => PageResolution::None,
        };
    }
    match chosen.as_slice() {
        [only] => PageResolution::One(*only),
        [] => PageResolution::None,
        [_, _, ..] => PageResolution::Several(chosen),
    }
}

/// The length of the page's title if the title of the window begins with it.
fn fit(window_title: &str, candidate: &TitleCandidate) -> Option<usize> {
    let title = normalised(&candidate.title);
    if !title.is_empty() {
        return begins(window_title, &title).then_some(title.chars().count());
    }
    let url = candidate.url.as_str();
    let bare = url.split_once("://").map_or(url, |(_, rest)| rest);
    [url, bare, bare.trim_end_matches('/')]
        .into_iter()
        .chain(UNTITLED)
        .any(|shown| !shown.is_empty() && begins(window_title, shown))
        .then_some(0)
}

fn begins(window_title: &str, title: &str) -> bool {
    window_title
        .strip_prefix(title)
        .is_some_and(|rest| rest.is_empty() || SEPARATORS.iter().any(|separator| rest.starts_with(separator)))
}

pub(crate) fn normalised(text: &str) -> String {
    crate::wire::cleaned(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(title: &str, visible: Option<bool>) -> TitleCandidate {
        TitleCandidate {
            title: title.to_owned(),
            url: "http://a.example/b".to_owned(),
            visible,
            focused: false,
        }
    }

    fn check(window: &str, pages: &[TitleCandidate], expected: &PageResolution) {
        assert_eq!(&choose(window, pages), expected, "{window}");
    }

    #[test]
    fn the_visible_page_whose_title_begins_the_title_of_the_window() {
        let pages = [page("A", Some(false)), page(" B \n c", Some(true)), page("D", Some(true))];
        check("B c - Chromium", &pages, &PageResolution::One(1));
        check("D — Mozilla Firefox", &pages, &PageResolution::One(2));
        check("A - Chromium", &pages, &PageResolution::One(0));
        check("E - Chromium", &pages, &PageResolution::None);
        check("Dx - Chromium", &pages, &PageResolution::None);
    }

    #[test]
    fn the_longest_title_wins() {
        let pages = [page("A", Some(true)), page("A - B", Some(true))];
        check("A - B - Chromium", &pages, &PageResolution::One(1));
        check("A - Chromium", &pages, &PageResolution::One(0));
    }

    #[test]
    fn equal_titles_are_ambiguous() {
        let pages = [page("A", Some(true)), page("A", None), page("A", Some(false))];
        check("A - Chromium", &pages, &PageResolution::Several(vec![0, 1]));
    }

    #[test]
    fn the_only_visible_page_fits_any_title() {
        check("New - Chromium", &[page("Old", Some(true)), page("x", Some(false))], &PageResolution::One(0));
        check("New - Chromium", &[page("Old", Some(true)), page("x", Some(true))], &PageResolution::None);
        check("New - Chromium", &[], &PageResolution::None);
    }

    #[test]
    fn a_page_without_title_has_its_address() {
        let pages = [page("", Some(true)), page("x", Some(true))];
        check("a.example/b - Chromium", &pages, &PageResolution::One(0));
        check("Mozilla Firefox", &pages, &PageResolution::One(0));
        check("Untitled - Chromium", &pages, &PageResolution::One(0));
    }
}
