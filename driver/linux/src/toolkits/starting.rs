//! Requirements of single programs to expose their elements, beyond the variables that all programs get.
//!
//! The program is not run to find them: the files beside it and, for a script, its text show which toolkit
//! it uses.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use super::chromium::EXPOSE_PAGES;

/// Files beside a program that is made of Chromium, such as one of Electron: its resources, and what its scripts start from.
const CHROMIUM: &[&[&str]] = &[
    &["resources.pak", "chrome_100_percent.pak"],
    &["v8_context_snapshot.bin", "snapshot_blob.bin", "icudtl.dat"],
];
/// The most of a script that is read, in bytes.
const SCRIPT_BYTES_MAX: u64 = 64 * 1024;
/// The class that exposes the elements of Swing and AWT, in the archive [`WRAPPER`].
const WRAPPER_CLASS: &str = "org.GNOME.Accessibility.AtkWrapper";
/// The path where its package installs it.
const WRAPPER: &str = "/usr/share/java/java-atk-wrapper.jar";
/// The variable that every Java machine reads.
pub(crate) const JAVA_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// Additional arguments and variables of one program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    /// Arguments before all others.
    pub(crate) arguments: Vec<OsString>,
    /// Variables. `JAVA_TOOL_OPTIONS` comes after what the user has set.
    pub(crate) variables: Vec<(&'static str, OsString)>,
}

/// Returns the extras of a program that is started with these arguments. `java_options` are the options that
/// the user has set for Java. Blocking.
pub(crate) fn extras(
    program: &Path,
    arguments: &[String],
    superuser: bool,
    java_options: Option<&OsStr>,
) -> Extras {
    extras_with(program, arguments, superuser, java_options, Path::new(WRAPPER))
}

fn extras_with(
    program: &Path,
    arguments: &[String],
    superuser: bool,
    java_options: Option<&OsStr>,
    wrapper: &Path,
) -> Extras {
    let mut extras = Extras::default();
    let script = script(program);
    if is_made_of_chromium(program) || script.as_deref().is_some_and(passes_on_to_electron) {
        extras.arguments.push(EXPOSE_PAGES.into());
        if superuser {
            // It refuses to start otherwise.
            extras.arguments.push("--no-sandbox".into());
        }
    }
    // The machine says on its standard error that it has read the variable, so only programs with windows get it.
    if (is_java(program, arguments) || script.as_deref().is_some_and(starts_java)) && wrapper.exists() {
        let mut options = java_options.unwrap_or_default().to_owned();
        if !options.is_empty() {
            options.push(" ");
        }
        options.push("-Xbootclasspath/a:");
        options.push(wrapper);
        options.push(format!(" -Djavax.accessibility.assistive_technologies={WRAPPER_CLASS}"));
        extras.variables.push((JAVA_OPTIONS, options));
    }
    extras
}

/// The text of a program that is a script.
fn script(program: &Path) -> Option<String> {
    let mut text = Vec::new();
    File::open(program).ok()?.take(SCRIPT_BYTES_MAX).read_to_end(&mut text).ok()?;
    text.starts_with(b"#!").then(|| String::from_utf8_lossy(&text).into_owned())
}

fn is_made_of_chromium(program: &Path) -> bool {
    let real: Option<PathBuf> = program.canonicalize().ok();
    let folder = real.as_deref().and_then(Path::parent);
    folder.is_some_and(|folder| CHROMIUM.iter().all(|any| any.iter().any(|name| folder.join(name).is_file())))
}

/// Returns `true` if a script starts Electron with its own arguments.
fn passes_on_to_electron(script: &str) -> bool {
    let mut lines = script.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.any(|line| has_word(line, "electron") && line.contains("\"$@\""))
}

fn is_java(program: &Path, arguments: &[String]) -> bool {
    let name = program.file_name().and_then(OsStr::to_str).unwrap_or_default();
    // Asked for its version and the like, it shows no window.
    let runs = arguments.iter().any(|argument| !argument.starts_with('-'));
    matches!(name, "java" | "javaw") && runs
}

/// Returns `true` if a script starts a program in Java.
fn starts_java(script: &str) -> bool {
    let first = script.lines().next().unwrap_or_default();
    let is_shell = ["sh", "bash", "dash", "ksh"].iter().any(|shell| has_word(first, shell));
    let mut lines = script.lines().filter(|line| !line.trim_start().starts_with('#'));
    is_shell
        && lines.any(|line| {
            let jar = line.contains(".jar") && (has_word(line, "java") || line.contains("JAVA"));
            jar || line.contains("java-wrappers") || has_word(line, "run_java") || line.contains("exec java ")
        })
}

/// Returns `true` if a line has a word that stands alone, or ends a path.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn words(needs: &Extras) -> Vec<String> {
        needs.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn what_is_made_of_chromium_is_told_to_expose_its_pages() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("editor");
        fs::write(&program, "\u{7f}ELF").unwrap();
        let check = |superuser: bool| words(&extras(&program, &[], superuser, None));
        assert!(check(true).is_empty());
        for name in ["resources.pak", "snapshot_blob.bin"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(check(false), ["--force-renderer-accessibility"]);
        assert_eq!(check(true), ["--force-renderer-accessibility", "--no-sandbox"]);
        let link = folder.path().join("link");
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(&program, bin.join("editor")).unwrap();
        std::os::unix::fs::symlink(bin.join("editor"), &link).unwrap();
        assert_eq!(words(&extras(&bin.join("editor"), &[], false, None)), ["--force-renderer-accessibility"]);
        let script = bin.join("notes");
        fs::write(&script, "#!/bin/sh\nexec /usr/lib/electron22/electron /usr/lib/notes/app.asar \"$@\"\n")
            .unwrap();
        assert_eq!(words(&extras(&script, &[], false, None)), ["--force-renderer-accessibility"]);
    }

    #[test]
    fn only_what_starts_java_gets_the_wrapper() {
        let folder = tempfile::tempdir().unwrap();
        let wrapper = folder.path().join("wrapper.jar");
        let options = |program: &str, content: &str, arguments: &[&str]| {
            let file = folder.path().join(program);
            fs::write(&file, content).unwrap();
            let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
            let needs = extras_with(&file, &arguments, false, Some(OsStr::new("-Xmx1g")), &wrapper);
            needs.variables.into_iter().map(|(_, value)| value.into_string().unwrap()).next()
        };
        let debian =
            "#!/bin/sh\n. /usr/lib/java-wrappers/java-wrappers.sh\nrun_java org.example.Main \"$@\"\n";
        assert_eq!(options("map", debian, &[]), None, "without the package");
        fs::write(&wrapper, "").unwrap();
        let found = options("map", debian, &[]).unwrap();
        assert!(found.starts_with("-Xmx1g -Xbootclasspath/a:/") && found.ends_with(".AtkWrapper"), "{found}");
        assert!(options("draw", "#!/bin/bash\nexec java -jar /usr/share/draw/draw.jar\n", &[]).is_some());
        assert!(options("java", "\u{7f}ELF", &["-jar", "form.jar"]).is_some());
        assert_eq!(options("java", "\u{7f}ELF", &["-version"]), None);
        assert_eq!(options("shell", "#!/bin/sh\necho javascript \"$@\"\n", &[]), None);
        assert_eq!(options("snake", "#!/usr/bin/python3\nimport x # java -jar x.jar\n", &[]), None);
        assert_eq!(options("pad", "\u{7f}ELF run_java", &[]), None);
    }
}
