//! Finds the page that a window shows.

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::{
    browser::{Browser, GLANCE_BOUND, Wanted},
    geometry::{nearest, window_bounds},
    titles::{Candidate, Choice, choose},
    wire::{Trouble, Window, cut},
};

/// The most titles in an error.
const TITLES_MAX: usize = 10;
/// The longest title in an error, in characters.
const TITLE_CHARACTERS_MAX: usize = 100;

/// A page and what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct Glance {
    pub(crate) id: String,
    pub(crate) candidate: Candidate,
}

/// All pages, and whether they are visible.
pub(crate) async fn glances(browser: &Browser) -> Vec<Glance> {
    let tabs = browser.tabs().await;
    let is_tab = |id: &String| tabs.as_ref().is_none_or(|tabs| tabs.contains(id));
    let pages: Vec<_> = browser
        .link()
        .state()
        .pages
        .iter()
        .filter(|page| !page.in_advance && is_tab(&page.id))
        .map(|page| (page.id.clone(), page.title.clone(), page.url.clone()))
        .collect();
    join_all(pages.into_iter().map(|(id, title, url)| glance(browser, id, title, url))).await
}

async fn glance(browser: &Browser, id: String, title: String, url: String) -> Glance {
    let candidate = match timeout(GLANCE_BOUND, browser.look(&id, Wanted::default())).await {
        Ok(Ok(reading)) => {
            // The page knows of a new title first.
            let title = if reading.title.is_empty() { title } else { reading.title };
            Candidate { title, url, visible: Some(reading.visible), focused: reading.focused }
        }
        Ok(Err(_)) | Err(_) => Candidate { title, url, visible: None, focused: false },
    };
    Glance { id, candidate }
}

/// The page of a window among all pages.
pub(crate) async fn page_of(
    browser: &Browser,
    window: &Window,
    glances: &[Glance],
) -> Result<String, Trouble> {
    let candidates: Vec<Candidate> = glances.iter().map(|glance| glance.candidate.clone()).collect();
    let several = match choose(&window.title, &candidates) {
        Choice::One(index) => return id(glances, index),
        Choice::Several(several) => several,
        Choice::None => return Err(none(window, &candidates)),
    };
    if window.xid != 0
        && let Some(place) = window_bounds(window.xid).await
    {
        let mut places = Vec::new();
        for index in &several {
            let Some(glance) = glances.get(*index) else { continue };
            places.extend(browser.bounds(&glance.id).await.map(|bounds| (*index, bounds)));
        }
        if let Some(index) = nearest(place, &places) {
            return id(glances, index);
        }
    }
    let focused: Vec<usize> = several
        .iter()
        .copied()
        .filter(|index| candidates.get(*index).is_some_and(|candidate| candidate.focused))
        .collect();
    match focused.as_slice() {
        [only] => id(glances, *only),
        [] | [_, _, ..] => Err(Trouble::NoDocument(format!(
            "{} windows show a page with the title {:?} and none can be told from the others; \
             click into the one that is meant and try again",
            several.len(),
            cut(&window.title, TITLE_CHARACTERS_MAX)
        ))),
    }
}

fn id(glances: &[Glance], index: usize) -> Result<String, Trouble> {
    let glance = glances.get(index);
    glance
        .map(|glance| glance.id.clone())
        .ok_or_else(|| Trouble::Failed("the page is gone; try again".to_owned()))
}

fn none(window: &Window, candidates: &[Candidate]) -> Trouble {
    let titles: Vec<String> = candidates
        .iter()
        .filter(|candidate| candidate.visible != Some(false))
        .take(TITLES_MAX)
        .map(|candidate| format!("{:?}", cut(&candidate.title, TITLE_CHARACTERS_MAX)))
        .collect();
    let visible = if titles.is_empty() { "none".to_owned() } else { titles.join(", ") };
    Trouble::NoDocument(format!(
        "no page has the title of the window {:?}; visible pages: {visible}; look at the windows again",
        cut(&window.title, TITLE_CHARACTERS_MAX)
    ))
}
