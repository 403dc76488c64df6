//! Tests of splitting.

use super::*;

fn check(text: &str, expected: &[(&str, &str)]) {
    let found = passages(text, "name");
    let found: Vec<(&str, &str)> =
        found.iter().map(|passage| (passage.title.as_str(), passage.text.as_str())).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn headings_split() {
    check(
        "# Page\nFirst.\n\n## One\na\n\n- b\n## Empty\n### Two ##\nc\n",
        &[("Page", "First."), ("Page › One", "a\n- b"), ("Page › Two", "c")],
    );
    check("no heading\n#hash\n####### seven\n", &[("name", "no heading\n#hash\n####### seven")]);
    check("# P\n```\n# a comment\n```\n## S\nb\n", &[("P", "```\n# a comment\n```"), ("P › S", "b")]);
    check("a\n[image: Icon]\n[image: x] b\n", &[("name", "a\n[image: x] b")]);
    check("\n \n---\n", &[]);
}

#[test]
fn what_a_viewer_shows_around_a_page_is_dropped() {
    check("# Filters\nHelp 7.4\nModule\n# Filters\nChoose Data.\n", &[("Filters", "Choose Data.")]);
    let long = "word ".repeat(100);
    let found = passages(&format!("# A\n{long}\n# A\nb\n"), "name");
    assert_eq!(found.len(), 2, "a real beginning is kept");
}

#[test]
fn long_sections_are_cut_and_nothing_is_lost() {
    for line in ["One sentence of several words. ".repeat(200), "語".repeat(900), "x".repeat(5_000)] {
        let text = format!("# P\n{line}\nlast line\n");
        let found = passages(&text, "name");
        assert!(found.len() > 1);
        for passage in &found {
            assert!(tokens(&passage.text) <= TOKENS_MAX, "{}", tokens(&passage.text));
        }
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let all: String = found.iter().map(|passage| bare(&passage.text)).collect();
        assert_eq!(all, bare(&format!("{line}last line")));
    }
}

#[test]
fn the_number_of_passages_is_bounded() {
    let text: String = (0..PASSAGES_MAX + 100).map(|number| format!("## s{number}\ntext\n")).collect();
    assert_eq!(passages(&text, "name").len(), PASSAGES_MAX);
}
