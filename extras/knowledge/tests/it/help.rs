//! The index of help, with files of each format.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use deskhand_knowledge::help::{
    HelpError, HelpFolders, HelpIndex, HelpIndexUpdate, HelpLimits, HelpSource, Languages, Reranker,
};
use deskhand_machine::retrieval::{Hit, Retriever, Trust};
use flate2::{Compression, write::GzEncoder};

/// A folder with an index and one with help.
struct Desk {
    folder: tempfile::TempDir,
    index: HelpIndex,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let index = HelpIndex::open(&folder.path().join("index")).unwrap();
        Self { folder, index }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn add(&self, name: &str, application: Option<&str>) -> HelpIndexUpdate {
        self.index.add(&source(&self.path(name), application)).unwrap()
    }

    fn titles(&self, wanted: &str) -> Vec<String> {
        self.index.search(wanted, None, 10).unwrap().into_iter().map(|hit| hit.title).collect()
    }
}

fn source(path: &Path, application: Option<&str>) -> HelpSource {
    let source = HelpSource::new(path).in_languages(Languages::of_locale("C"));
    application.map_or_else(|| source.clone(), |application| source.clone().about(application))
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

const PAGE: &str = r#"<page xmlns="http://projectmallard.org/1.0/" id="a"><title>Spell checking</title>
  <p>Misspelled words are underlined.</p>
  <section id="b"><title>Choose a dictionary</title><p>Select <gui>Tools</gui>.</p></section></page>"#;

#[test]
fn every_format_is_found_under_its_page_and_section() {
    let desk = Desk::new();
    desk.write("help/spell.page", PAGE);
    desk.write(
        "help/print.md",
        "Printing\n========\n\nUse the printer.\n\n## Duplex\n\nBoth sides of the sheet.\n",
    );
    desk.write(
        "help/filter.html",
        "<title>Filters</title><body><h1>Filters</h1><script>lobster</script><p>Hide rows.</p>",
    );
    desk.write("help/tool.1.gz", gzip(b".TH TOOL 1\n.SH OPTIONS\n.TP\n.B \\-\\-verbose\nprints more\n"));
    desk.write("help/README.gz", gzip(b"Zebra crossings are explained here.\n"));
    desk.write("help/copyright.txt", "lobster");
    desk.write("help/picture.png", "lobster");
    let added = desk.add("help", Some("editor"));
    assert_eq!((added.files, added.skipped.len(), &added.left_out), (5, 0, &None), "{added:?}");
    let check = |wanted: &str, title: &str, text: &str| {
        let hits = desk.index.search(wanted, None, 3).unwrap();
        let hit = hits.first().unwrap_or_else(|| panic!("nothing for {wanted}"));
        assert_eq!((hit.title.as_str(), hit.text.as_str()), (title, text), "{wanted}");
        assert_eq!((hit.retriever, hit.trust), (Retriever::Help, Trust::Installed));
        assert_eq!(hit.application.as_deref(), Some("editor"));
        assert!(Path::new(&hit.origin).is_file(), "{}", hit.origin);
    };
    check("choosing dictionaries", "Spell checking › Choose a dictionary", "Select Tools.");
    check("print on both sides", "Printing › Duplex", "Both sides of the sheet.");
    check("how do I hide a row?", "Filters", "Hide rows.");
    check("verbose option of tool", "tool(1) › Options", "- --verbose: prints more");
    check("zebra", "README", "Zebra crossings are explained here.");
    assert!(desk.titles("lobster").is_empty());
    assert!(desk.titles("").is_empty());
    assert!(desk.index.search("filter", None, 0).unwrap().is_empty());
}

#[test]
fn adding_again_replaces_and_removing_removes() {
    let desk = Desk::new();
    desk.write("one/a.md", "# Old\nwalrus\n");
    desk.write("two/b.md", "# Other\nwalrus\n");
    desk.add("one", None);
    desk.add("two", None);
    desk.write("one/a.md", "# New\npenguin\n");
    desk.add("one", Some("zoo"));
    assert_eq!(desk.titles("walrus"), ["Other"]);
    assert_eq!(desk.titles("penguin"), ["New"]);
    let reopened = HelpIndex::open(&desk.path("index")).unwrap();
    let listed = reopened.list().unwrap();
    let shown: Vec<_> =
        listed.iter().map(|one| (one.application.as_deref(), one.files, one.passages)).collect();
    assert_eq!(shown, [(Some("zoo"), 1, 1), (None, 1, 1)]);
    assert!(listed.iter().all(|one| one.at_ms > 1_500_000_000_000));
    fs::remove_dir_all(desk.path("one")).unwrap();
    assert!(reopened.remove(&listed[0].path).unwrap(), "what is gone from the disk can be removed");
    assert!(!reopened.remove(&desk.path("one")).unwrap());
    assert!(desk.titles("penguin").is_empty(), "another reader sees it too");
    assert!(matches!(desk.index.add(&source(&desk.path("one"), None)), Err(HelpError::Source { .. })));
}

#[test]
fn unreadable_files_are_named_and_the_others_are_added() {
    let desk = Desk::new();
    let secret = desk.write("secret/key.txt", "walrus");
    desk.write("help/good.md", "penguin");
    desk.write("help/bad.page", "<page xmlns=\"http://projectmallard.org/1.0/\"><p>");
    desk.write("help/other.xml", "<menu/>");
    desk.write("help/broken.html.gz", "no gzip");
    desk.write("help/bomb.txt.gz", gzip(&vec![b'a'; 3_000_000]));
    desk.write("help/long.txt", "a ".repeat(40_000));
    desk.write("help/stub.1", ".so man1/other.1\n");
    desk.write("help/broken.pdf", "%PDF-1.7 and no more");
    symlink(&secret, desk.path("help/out.txt")).unwrap();
    symlink(desk.path("secret"), desk.path("help/folder")).unwrap();
    symlink(desk.path("nowhere"), desk.path("help/nowhere.txt")).unwrap();
    symlink(desk.path("help/good.md"), desk.path("help/again.md")).unwrap();
    symlink(desk.path("help"), desk.path("help/loop")).unwrap();
    let limits = HelpLimits { file_bytes_max: 50_000, ..HelpLimits::default() };
    let index = HelpIndex::open(&desk.path("index")).unwrap().with_limits(limits);
    let added = index.add(&source(&desk.path("help"), None)).unwrap();
    let mut names: Vec<String> = added
        .skipped
        .iter()
        .map(|skipped| {
            assert!(!skipped.reason.is_empty());
            skipped.path.file_name().unwrap().to_string_lossy().into_owned()
        })
        .collect();
    names.sort();
    let expected = [
        "bad.page",
        "bomb.txt.gz",
        "broken.html.gz",
        "broken.pdf",
        "long.txt",
        "nowhere.txt",
        "other.xml",
        "out.txt",
        "stub.1",
    ];
    assert_eq!(names, expected, "{:#?}", added.skipped);
    assert_eq!(added.files, 1, "a link to it is no second file");
    assert_eq!(desk.titles("penguin"), ["good"]);
    assert!(desk.titles("walrus").is_empty());
}

#[test]
fn files_folders_and_passages_are_bounded() {
    let desk = Desk::new();
    for number in 0..10 {
        desk.write(&format!("help/{number}.md"), "# A\nwalrus\n# B\nwalrus\n");
    }
    desk.write("deep/a/b/c.md", "penguin");
    let add = |limits: HelpLimits, name: &str| {
        let index = HelpIndex::open(&desk.path("index")).unwrap().with_limits(limits);
        index.add(&source(&desk.path(name), None)).unwrap()
    };
    let added = add(HelpLimits { files_max: 4, ..HelpLimits::default() }, "help");
    assert_eq!((added.files, added.passages), (4, 8));
    assert_eq!(added.left_out.as_deref(), Some("all files after the first 4"));
    let added = add(HelpLimits { total_bytes_max: 70, ..HelpLimits::default() }, "help");
    assert_eq!(added.files, 3, "{added:?}");
    assert!(added.left_out.is_some());
    let added = add(HelpLimits { passages_max: 5, ..HelpLimits::default() }, "help");
    assert_eq!((added.files, added.passages), (3, 5));
    assert!(added.left_out.is_some());
    let added = add(HelpLimits { depth_max: 1, ..HelpLimits::default() }, "deep");
    assert_eq!((added.files, added.skipped.len()), (0, 1));
    let added = add(HelpLimits::default(), "deep");
    assert_eq!((added.files, added.skipped.len()), (1, 0));
}

#[test]
fn only_the_wanted_language_is_added() {
    let desk = Desk::new();
    for (language, word) in [("C", "walrus"), ("de", "walross"), ("pt_BR", "morsa")] {
        desk.write(&format!("help/{language}/zoo/a.md"), word);
    }
    desk.write("man/man1/zoo.1", ".TH ZOO 1\nThe walrus.\n");
    desk.write("man/de/man1/zoo.1", ".TH ZOO 1\nwalross\n");
    let add = |name: &str, locale: &str| {
        let source = HelpSource::new(desk.path(name)).in_languages(Languages::of_locale(locale));
        desk.index.add(&source).unwrap().files
    };
    let found = |word: &str| desk.titles(word).len();
    assert_eq!((add("help", "de_AT.UTF-8"), found("walross"), found("walrus"), found("morsa")), (1, 1, 0, 0));
    assert_eq!((add("help", "fr"), found("walross"), found("walrus")), (1, 0, 1));
    assert_eq!((add("man", "fr"), found("walross"), found("walrus")), (1, 0, 2));
}

#[test]
fn the_application_and_titles_come_first() {
    let desk = Desk::new();
    desk.write("one/a.md", "# Sort rows\nChoose Data.\n");
    desk.write("two/a.md", "# Sort rows\nChoose Table.\n");
    desk.write("three/a.md", "# Rows\nYou can sort, delete, insert, colour and hide rows there.\n");
    desk.add("one", Some("calc"));
    desk.add("two", Some("writer"));
    desk.add("three", None);
    let search =
        |application: Option<&str>| -> Vec<Hit> { desk.index.search("sort rows", application, 5).unwrap() };
    for application in ["calc", "writer"] {
        let hits = search(Some(application));
        assert_eq!(hits[0].application.as_deref(), Some(application));
        assert_eq!(hits.len(), 3);
    }
    let hits = search(None);
    assert_eq!(hits[2].title, "Rows");
    assert!(hits.iter().all(|hit| (1..=1_000).contains(&hit.score)), "{hits:?}");
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "{hits:?}");
    let partial = desk.index.search("sort rows by quantum chromodynamics", None, 5).unwrap();
    assert!(partial[0].score < hits[0].score, "what has all words fits better than what has half of them");
}

/// Prefers texts with this word; fails without one.
struct Preferring(Option<&'static str>);

impl Reranker for Preferring {
    fn nearness(&self, _: &str, texts: &[String]) -> Result<Vec<f32>, String> {
        let word = self.0.ok_or("no model")?;
        Ok(texts.iter().map(|text| if text.contains(word) { 1.0 } else { f32::NAN }).collect())
    }
}

#[test]
fn meaning_reorders_and_its_failure_does_not() {
    let desk = Desk::new();
    desk.write("help/a.md", "# Sort rows\nSort rows here.\n");
    desk.write("help/b.md", "# Order\nArrange rows by value, walrus.\n");
    desk.add("help", None);
    let titles = |word: Option<&'static str>| -> Vec<String> {
        let hits = desk.index.search_with(&Preferring(word), "sort rows", None, 5).unwrap();
        hits.into_iter().map(|hit| hit.title).collect()
    };
    assert_eq!(titles(Some("walrus")), ["Order", "Sort rows"]);
    assert_eq!(titles(None), desk.titles("sort rows"));
    assert_eq!(titles(None), ["Sort rows", "Order"]);
}

#[test]
fn one_process_writes_while_others_search() {
    let desk = Desk::new();
    desk.write("help/a.md", "walrus");
    desk.add("help", None);
    let writer = fs::File::open(desk.path("index/.tantivy-writer.lock")).unwrap();
    writer.lock().unwrap();
    let error = desk.index.add(&source(&desk.path("help"), None)).unwrap_err();
    assert!(matches!(error, HelpError::Busy { .. }), "{error}");
    assert!(matches!(desk.index.remove(&desk.path("help")), Err(HelpError::Busy { .. })));
    assert_eq!(desk.titles("walrus").len(), 1);
    writer.unlock().unwrap();
    desk.add("help", None);
}

#[test]
fn a_damaged_index_is_an_error_with_a_next_step() {
    let desk = Desk::new();
    desk.write("help/a.md", "walrus");
    desk.add("help", None);
    fs::write(desk.path("index/meta.json"), "{").unwrap();
    let error = HelpIndex::open(&desk.path("index")).unwrap_err();
    assert!(matches!(error, HelpError::Open { .. }));
    assert!(error.to_string().contains("add the help again"), "{error}");
}

#[test]
fn help_of_an_application_is_found_by_its_name() {
    let desk = Desk::new();
    let root = desk.path("root").canonicalize().unwrap_or_else(|_| desk.path("root"));
    for file in [
        "usr/share/help/C/gedit/index.page",
        "usr/share/help/de/gedit/index.page",
        "usr/share/help/C/gnome-help/files.page",
        "usr/share/doc/gedit/README",
        "usr/share/man/man1/gedit.1.gz",
        "usr/share/man/man5/gedit.5",
        "usr/share/man/de/man1/gedit.1.gz",
        "usr/lib/libreoffice/help/en-US/text/scalc/a.html",
        "usr/lib/libreoffice/help/en-US/text/swriter/a.html",
        "usr/lib/libreoffice/help/en-US/text/shared/a.html",
    ] {
        desk.write(&format!("root/{file}"), "x");
    }
    let machine = HelpFolders::below(&root);
    let check = |application: &str, locale: &str, expected: &[&str]| {
        let sources = machine.sources(application, &Languages::of_locale(locale));
        let paths: Vec<String> = sources
            .iter()
            .map(|source| {
                source.path.strip_prefix(root.canonicalize().unwrap()).unwrap().display().to_string()
            })
            .collect();
        assert_eq!(paths, expected, "{application}");
        assert!(sources.iter().all(|source| source.application.as_deref() == Some(application)));
    };
    check(
        "org.gnome.gedit",
        "C",
        &["usr/share/help/C/gedit", "usr/share/doc/gedit", "usr/share/man/man1/gedit.1.gz"],
    );
    check(
        "gedit",
        "de_DE.UTF-8",
        &["usr/share/help/de/gedit", "usr/share/doc/gedit", "usr/share/man/de/man1/gedit.1.gz"],
    );
    check("nautilus", "C", &["usr/share/help/C/gnome-help"]);
    let office = "usr/lib/libreoffice/help/en-US/text";
    check("calc", "C", &[&format!("{office}/scalc"), &format!("{office}/shared")]);
    check(
        "soffice",
        "fr",
        &[&format!("{office}/swriter"), &format!("{office}/scalc"), &format!("{office}/shared")],
    );
    check("../../etc", "C", &[]);
    check("unknown", "C", &[]);
}
