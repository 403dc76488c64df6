//! Archives, good and hostile ones.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use deskhand_files::{
    EntryKind, FolderListOptions, Format,
    archive::{UnpackConflictPolicy, UnpackOptions, UnpackSummary, list, unpack},
    list as list_folder,
};
use tempfile::TempDir;

use crate::support::{made, message};

/// What is below a folder.
fn tree(root: &Path) -> Vec<String> {
    let options = FolderListOptions { depth_max: 50, hidden: true, ..FolderListOptions::default() };
    list_folder(root, &options).unwrap().entries.into_iter().map(|entry| entry.path).collect()
}

fn destination() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("into");
    (folder, into)
}

fn reasons(unpacked: &UnpackSummary) -> Vec<(&str, &str)> {
    unpacked.skipped.iter().map(|skipped| (skipped.name.as_str(), skipped.why.as_str())).collect()
}

#[test]
fn good_archives_are_listed_and_unpacked() {
    let listing = list(&made("good.zip"), 100).unwrap();
    let names: Vec<&str> = listing.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!((listing.format, names), (Format::Zip, vec!["a.txt", "dir/b.txt", "dir/run.sh"]));
    assert_eq!((listing.bytes_total, listing.left_out), (21, None));
    assert_eq!(list(&made("good.zip"), 2).unwrap().left_out.unwrap(), "entries after the first 2");
    let (folder, into) = destination();
    let unpacked = unpack(&made("good.zip"), &into, &UnpackOptions::default()).unwrap();
    assert_eq!((unpacked.files, unpacked.bytes, unpacked.skipped_total), (3, 21, 0));
    assert_eq!(tree(folder.path()), ["into", "into/a.txt", "into/dir", "into/dir/b.txt", "into/dir/run.sh"]);
    // Executable, but not with the rights of its owner.
    let mode = fs::metadata(into.join("dir/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777 & !0o022, 0o755);
    for name in ["good.tar", "good.tar.gz", "good.tgz", "good.tar.xz"] {
        let listing = list(&made(name), 100).unwrap();
        assert_eq!((listing.format, listing.entries.len()), (Format::Tar, 5), "{name}");
        assert_eq!(listing.entries[4].kind, EntryKind::Link { target: "a.txt".to_owned() });
        let (_folder, into) = destination();
        let unpacked = unpack(&made(name), &into, &UnpackOptions::default()).unwrap();
        assert_eq!((unpacked.files, unpacked.skipped_total), (4, 0), "{name}: {unpacked:?}");
        for file in ["a.txt", "same.txt", "link.txt"] {
            assert_eq!(fs::read_to_string(into.join("top").join(file)).unwrap(), "alpha\n", "{name}");
        }
    }
    for name in ["report.txt.gz", "report.txt.xz", "report.txt.zst"] {
        assert_eq!(list(&made(name), 100).unwrap().entries[0].size, 16, "{name}");
        let (_folder, into) = destination();
        unpack(&made(name), &into, &UnpackOptions::default()).unwrap();
        assert_eq!(fs::read_to_string(into.join("report.txt")).unwrap(), "compressed text\n", "{name}");
    }
}

#[test]
fn names_cannot_lead_outside() {
    let (folder, into) = destination();
    let unpacked = unpack(&made("names.zip"), &into, &UnpackOptions::default()).unwrap();
    assert_eq!(tree(folder.path()), ["into", "into/good.txt", "into/win", "into/win/dows.txt"]);
    // Of two entries with the same name in a zip file, the last one counts, as in other programs.
    assert_eq!(fs::read_to_string(into.join("good.txt")).unwrap(), "again");
    let why: Vec<&str> = reasons(&unpacked).into_iter().map(|(_, why)| why).collect();
    let outside = "its name leads outside (..)";
    assert_eq!(
        why,
        [
            outside,
            "its name is an absolute path",
            outside,
            outside,
            "its name is an absolute path",
            "its name contains control characters",
            "its name is too long",
            "its name occurs twice",
        ]
    );
}

#[test]
fn links_cannot_lead_outside() {
    let (folder, into) = destination();
    let unpacked = unpack(&made("links.zip"), &into, &UnpackOptions::default()).unwrap();
    let expected = [
        "into",
        "into/d1",
        "into/d1/d2",
        "into/d1/d2/top",
        "into/dir",
        "into/dir/in",
        "into/file.txt",
        "into/self",
        "into/through",
        "into/through/x.txt",
    ];
    assert_eq!(tree(folder.path()), expected);
    assert_eq!(fs::read_to_string(into.join("dir/in")).unwrap(), "content");
    let refused: Vec<&str> = reasons(&unpacked).into_iter().map(|(name, _)| name).collect();
    assert_eq!(refused, ["out", "up", "chain", "through", "self/self/up"]);
    let (folder, into) = destination();
    let unpacked = unpack(&made("bad.tar"), &into, &UnpackOptions::default()).unwrap();
    assert_eq!(tree(folder.path()), ["into", "into/good.txt", "into/soft", "into/soft/x.txt"]);
    let refused: Vec<&str> = reasons(&unpacked).into_iter().map(|(name, _)| name).collect();
    assert_eq!(refused, ["../outside.txt", "/absolute.txt", "pipe", "device", "hard", "hard2", "soft"]);
}

#[test]
fn bombs_are_refused_and_leave_nothing() {
    let check = |name: &str, options: &UnpackOptions, limit: &str| {
        let (folder, into) = destination();
        let error = message(unpack(&made(name), &into, options));
        assert!(error.contains(limit), "{name}: {error}");
        assert_eq!(tree(folder.path()), [""; 0], "{name}");
    };
    let options = UnpackOptions::default();
    check("bomb.zip", &options, "ratio_max");
    check("bomb.tar.gz", &options, "ratio_max");
    check(
        "bomb.zip",
        &UnpackOptions { bytes_max: 1_000, ..options.clone() },
        "more than 1000 bytes (bytes_max)",
    );
    check("bomb.tar.gz", &UnpackOptions { entry_bytes_max: 1_000, ..options.clone() }, "(entry_bytes_max)");
    check("bomb.tar.gz", &UnpackOptions { glob: Some("*.txt".to_owned()), ..options.clone() }, "ratio_max");
    check("many.zip", &UnpackOptions { entries_max: 1_999, ..options.clone() }, "more than 1999 entries");
    check("name.tar.gz", &options, "headers of an entry are too large");
    check("secret.zip", &options, "the zip is password protected");
    // An entry that has more bytes than it claims.
    check("claims.zip", &options, "damaged");
}

#[test]
fn files_that_exist_are_kept_unless_said() {
    let (folder, into) = destination();
    let outside = folder.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::create_dir_all(&into).unwrap();
    // An empty folder is as good as none.
    unpack(&made("good.zip"), &into, &UnpackOptions::default()).unwrap();
    let error = message(unpack(&made("good.zip"), &into, &UnpackOptions::default()));
    assert!(error.contains("it has files already"), "{error}");
    fs::write(into.join("a.txt"), "mine").unwrap();
    fs::remove_dir_all(into.join("dir")).unwrap();
    let keep = UnpackOptions { existing: UnpackConflictPolicy::Keep, ..UnpackOptions::default() };
    let unpacked = unpack(&made("good.zip"), &into, &keep).unwrap();
    assert_eq!(reasons(&unpacked), [("a.txt", "a file of this name exists and is kept")]);
    assert_eq!(fs::read_to_string(into.join("a.txt")).unwrap(), "mine");
    assert!(into.join("dir/b.txt").exists());
    // A link to a folder is not gone through.
    fs::remove_dir_all(into.join("dir")).unwrap();
    std::os::unix::fs::symlink(&outside, into.join("dir")).unwrap();
    let replace = UnpackOptions { existing: UnpackConflictPolicy::Replace, ..UnpackOptions::default() };
    let unpacked = unpack(&made("good.zip"), &into, &replace).unwrap();
    assert_eq!(reasons(&unpacked), [("dir", "a folder and a file have the same name")]);
    assert_eq!(fs::read_to_string(into.join("a.txt")).unwrap(), "alpha\n");
    assert_eq!(tree(&outside), [""; 0]);
    assert!(fs::read_dir(folder.path()).unwrap().count() == 2, "{:?}", tree(folder.path()));
    let error = message(unpack(&made("good.zip"), &into.join("a.txt"), &replace));
    assert!(error.contains("it exists and is no folder"), "{error}");
}
