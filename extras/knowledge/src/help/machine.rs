//! Help for an application on this machine.

use std::path::{Path, PathBuf};

use super::{index::HelpSource, language::Languages};

/// The sections of the manual in which programs, games, formats and their administration are.
const SECTIONS: [&str; 5] = ["1", "6", "8", "5", "7"];
/// Names of programs of the office suite, and the folders of its help.
const OFFICE: [(&str, &[&str]); 7] = [
    ("writer", &["swriter"]),
    ("calc", &["scalc"]),
    ("impress", &["simpress"]),
    ("draw", &["sdraw"]),
    ("math", &["smath"]),
    ("base", &["sdatabase"]),
    ("basic", &["sbasic"]),
];
/// Folders of the help of the office suite that are about all of its programs.
const OFFICE_SHARED: [&str; 2] = ["shared", "schart"];
/// Applications whose help is part of another one.
const PART_OF: [(&str, &str); 3] =
    [("nautilus", "gnome-help"), ("gnome-control-center", "gnome-help"), ("gnome-shell", "gnome-help")];

/// The folders of help on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpFolders {
    /// Mallard and DocBook: a folder for each language, in it one for each application.
    pub help: PathBuf,
    /// Documents of packages, a folder for each.
    pub documents: PathBuf,
    /// Man pages: `man1` and so on, and folders of languages.
    pub manuals: PathBuf,
    /// Help of the office suite: folders of languages.
    pub office: Vec<PathBuf>,
}

impl Default for HelpFolders {
    fn default() -> Self {
        Self::below(Path::new("/"))
    }
}

impl HelpFolders {
    /// The usual folders below a root.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        Self {
            help: root.join("usr/share/help"),
            documents: root.join("usr/share/doc"),
            manuals: root.join("usr/share/man"),
            office: ["usr/lib/libreoffice/help", "usr/share/libreoffice/help", "opt/libreoffice/help"]
                .map(|folder| root.join(folder))
                .to_vec(),
        }
    }

    /// The help of an application by its name, such as `gedit`, `org.gnome.gedit`, `calc` or `soffice`; empty if there is none. Hits
    /// carry `application` as it is given.
    #[must_use]
    pub fn sources(&self, application: &str, languages: &Languages) -> Vec<HelpSource> {
        let names = names(application);
        let mut paths = self.office_help(&names, languages);
        for name in &names {
            for language in languages.names() {
                let folder = self.help.join(language).join(name);
                if folder.is_dir() {
                    paths.push(folder);
                    break;
                }
            }
            paths.push(self.documents.join(name));
            paths.extend(self.manual(name, languages));
        }
        let mut found: Vec<PathBuf> = Vec::new();
        for path in paths {
            // Two names of one folder are one source.
            if let Ok(path) = path.canonicalize()
                && !found.contains(&path)
            {
                found.push(path);
            }
        }
        let source = |path| HelpSource::new(path).about(application).in_languages(languages.clone());
        found.into_iter().map(source).collect()
    }

    /// The man page of a name, in the first language and section that has it.
    fn manual(&self, name: &str, languages: &Languages) -> Option<PathBuf> {
        let untranslated = std::iter::once(self.manuals.clone());
        let translated = languages.names().take_while(|language| *language != "C");
        let folders = translated.map(|language| self.manuals.join(language)).chain(untranslated);
        folders
            .flat_map(|folder| {
                SECTIONS.into_iter().flat_map(move |section| {
                    let folder = folder.join(format!("man{section}"));
                    [folder.join(format!("{name}.{section}.gz")), folder.join(format!("{name}.{section}"))]
                })
            })
            .find(|path| path.is_file())
    }

    fn office_help(&self, names: &[String], languages: &Languages) -> Vec<PathBuf> {
        let is = |wanted: &str| names.iter().any(|name| name == wanted);
        let is_suite = is("soffice") || is("libreoffice") || is("office");
        let programs: Vec<&str> = OFFICE
            .iter()
            .filter(|(program, folders)| {
                is_suite
                    || is(program)
                    || is(&format!("lo{program}"))
                    || folders.iter().any(|folder| is(folder))
            })
            .flat_map(|(_, folders)| folders.iter().copied())
            .collect();
        if programs.is_empty() {
            return Vec::new();
        }
        for folder in &self.office {
            for language in languages.names() {
                let texts = folder.join(language.replace('_', "-")).join("text");
                if texts.is_dir() {
                    let wanted = programs.iter().chain(&OFFICE_SHARED);
                    return wanted.map(|name| texts.join(name)).filter(|path| path.is_dir()).collect();
                }
            }
        }
        Vec::new()
    }
}

/// The names that the help of an application may have.
fn names(application: &str) -> Vec<String> {
    let bare = application.trim().rsplit('/').next().unwrap_or_default();
    let bare = bare.strip_suffix(".desktop").or_else(|| bare.strip_suffix(".bin")).unwrap_or(bare);
    let lower = bare.to_lowercase().replace(' ', "-");
    let short = lower.strip_prefix("libreoffice-").unwrap_or(&lower);
    let last = short.rsplit('.').next().unwrap_or_default();
    let part_of = PART_OF.iter().find(|(part, _)| *part == last).map(|(_, whole)| (*whole).to_owned());
    let mut names = Vec::new();
    let candidates =
        [Some(bare.to_owned()), Some(lower.clone()), Some(short.to_owned()), Some(last.to_owned()), part_of];
    for name in candidates.into_iter().flatten() {
        let is_safe = !name.is_empty() && !name.starts_with('.');
        if is_safe && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_applications_are_read() {
        let check =
            |application: &str, expected: &[&str]| assert_eq!(names(application), expected, "{application}");
        check("gedit", &["gedit"]);
        check(
            "org.gnome.Nautilus.desktop",
            &["org.gnome.Nautilus", "org.gnome.nautilus", "nautilus", "gnome-help"],
        );
        check("/usr/bin/soffice.bin", &["soffice"]);
        check("LibreOffice Calc", &["LibreOffice Calc", "libreoffice-calc", "calc"]);
        check("../..", &[]);
    }
}
