//! What a disk has after a power failure, by the calls of the process that wrote to it.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

/// A call as the shim logged it.
#[derive(Debug, Clone)]
pub(super) struct Call {
    operation: String,
    inode: u64,
    offset: usize,
    path: PathBuf,
    second: String,
}

/// Reads a log of the shim.
pub(super) fn read_calls(log: &Path) -> Vec<Call> {
    let text = fs::read_to_string(log).unwrap();
    let calls = text.lines().map(|line| {
        let parts: Vec<&str> = line.split('\t').collect();
        let [operation, inode, offset, path, second] = parts.as_slice() else { panic!("{line}") };
        Call {
            operation: (*operation).to_owned(),
            inode: inode.parse().unwrap(),
            offset: offset.parse().unwrap(),
            path: PathBuf::from(path),
            second: (*second).to_owned(),
        }
    });
    calls.collect()
}

impl Call {
    /// The file that it writes to, and the bytes.
    pub(super) fn written(&self) -> Option<(&Path, Vec<u8>)> {
        (self.operation == "write").then(|| (self.path.as_path(), bytes_of(&self.second)))
    }

    /// Returns `true` if it syncs that file or folder.
    pub(super) fn syncs(&self, is: &dyn Fn(&Path) -> bool) -> bool {
        self.operation.starts_with("sync") && is(&self.path)
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[derive(Debug, Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Resize(usize),
}

/// A file: what is on the disk, and what was changed since.
#[derive(Debug, Clone, Default)]
struct File {
    synced: Vec<u8>,
    changes: Vec<Change>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    File(u64),
    Folder,
}

#[derive(Debug, Clone)]
enum Naming {
    Add(String, Named),
    Remove(String),
    Rename(String, String, Named),
}

/// A folder: the names on the disk, and what was changed since.
#[derive(Debug, Clone, Default)]
struct Folder {
    synced: BTreeMap<String, Named>,
    changes: Vec<Naming>,
}

/// What of the changes that were not synced reaches the disk.
pub(super) trait Luck {
    /// How many of the next `count` changes, in order.
    fn of(&mut self, count: usize) -> usize;
}

/// Nothing.
pub(super) struct Worst;

impl Luck for Worst {
    fn of(&mut self, _: usize) -> usize {
        0
    }
}

/// A file system with a volatile cache.
#[derive(Debug, Clone, Default)]
pub(super) struct Disk {
    files: BTreeMap<u64, File>,
    folders: BTreeMap<PathBuf, Folder>,
}

impl Disk {
    /// Takes the next call.
    pub(super) fn take(&mut self, call: &Call) {
        let path = &call.path;
        match call.operation.as_str() {
            "create" => {
                self.files.insert(call.inode, File::default());
                self.name(path, |name| Naming::Add(name, Named::File(call.inode)));
            }
            "truncate" => self.change(call.inode, Change::Resize(call.offset)),
            "write" => self.change(call.inode, Change::Write(call.offset, bytes_of(&call.second))),
            "sync" => {
                let file = self.files.entry(call.inode).or_default();
                file.synced = content(file, file.changes.len());
                file.changes.clear();
            }
            "sync_folder" => {
                let folder = self.folders.entry(path.clone()).or_default();
                folder.synced = names(folder, folder.changes.len());
                folder.changes.clear();
            }
            "folder" => self.name(path, |name| Naming::Add(name, Named::Folder)),
            "link" => self.name(Path::new(&call.second), |name| Naming::Add(name, Named::File(call.inode))),
            "remove" => self.name(path, Naming::Remove),
            "rename" => {
                let to = Path::new(&call.second);
                assert_eq!(path.parent(), to.parent(), "a rename within its folder");
                let to = to.file_name().unwrap().to_str().unwrap().to_owned();
                self.name(path, |from| Naming::Rename(from, to, Named::File(call.inode)));
            }
            other => panic!("{other}"),
        }
    }

    fn change(&mut self, inode: u64, change: Change) {
        self.files.entry(inode).or_default().changes.push(change);
    }

    fn name(&mut self, path: &Path, naming: impl FnOnce(String) -> Naming) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        self.folders.entry(path.parent().unwrap().to_owned()).or_default().changes.push(naming(name));
    }

    /// Writes what survives a power failure below `root` to another folder.
    pub(super) fn survive(&self, root: &Path, to: &Path, luck: &mut dyn Luck) {
        let mut folders = vec![(root.to_owned(), to.to_owned())];
        while let Some((from, to)) = folders.pop() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&to).unwrap();
            let Some(folder) = self.folders.get(&from) else { continue };
            for (name, named) in names(folder, luck.of(folder.changes.len())) {
                match named {
                    Named::Folder => folders.push((from.join(&name), to.join(&name))),
                    Named::File(inode) => {
                        let file = &self.files[&inode];
                        let bytes = content(file, luck.of(file.changes.len()));
                        let mut options = fs::OpenOptions::new();
                        let mut made =
                            options.write(true).create(true).mode(0o600).open(to.join(&name)).unwrap();
                        std::io::Write::write_all(&mut made, &bytes).unwrap();
                    }
                }
            }
        }
    }

    /// The synced content of the file of that name, if its name and those of its folders are synced.
    pub(super) fn synced(&self, root: &Path, path: &Path) -> Option<&[u8]> {
        let mut folder = root.to_owned();
        for part in path.strip_prefix(root).unwrap() {
            match self.folders.get(&folder)?.synced.get(part.to_str()?)? {
                Named::Folder => folder.push(part),
                Named::File(inode) => return Some(&self.files[inode].synced),
            }
        }
        None
    }
}

fn content(file: &File, changes: usize) -> Vec<u8> {
    let mut bytes = file.synced.clone();
    for change in &file.changes[..changes] {
        match change {
            Change::Resize(size) => bytes.resize(*size, 0),
            Change::Write(offset, new) => {
                let end = offset + new.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[*offset..end].copy_from_slice(new);
            }
        }
    }
    bytes
}

fn names(folder: &Folder, changes: usize) -> BTreeMap<String, Named> {
    let mut names = folder.synced.clone();
    for change in folder.changes[..changes].iter().cloned() {
        match change {
            Naming::Add(name, named) => {
                names.insert(name, named);
            }
            Naming::Remove(name) => {
                names.remove(&name);
            }
            Naming::Rename(from, to, named) => {
                names.remove(&from);
                names.insert(to, named);
            }
        }
    }
    names
}
