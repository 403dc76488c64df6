//! Requirements of individual programs so that several virtual desktops can run side by side, and no welcome
//! dialog covers the document. All of them are in one table.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

use deskhand_process::OWN_FOLDER;

use super::{confine::Confine, folders::write_beneath, processes::Privileges};
use crate::{native::pipe_name, toolkits::EXPOSE_PAGES};

/// The arguments and files of one family of programs.
struct ProgramFamily {
    /// The file names of programs in the family; a trailing `*` matches any suffix.
    names: &'static [&'static str],
    /// Arguments before all others; `{private}` is the folder of the desktop.
    arguments: &'static [&'static str],
    /// Arguments for root, whom these programs would otherwise refuse.
    as_superuser: &'static [&'static str],
    /// Files that are written before the first start: path below the private folder, content.
    files: &'static [(&'static str, &'static str)],
    /// Which browser it is, if it is one.
    browser: Option<BrowserFamily>,
    /// A variable that the program needs while it is confined.
    confined: Option<(&'static str, &'static str)>,
    /// The folder of those files that has settings of toolkits, which hold before those of the desktop.
    settings: Option<&'static str>,
}

/// The requirements of a program at its start.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ProgramRequirements {
    /// Arguments before all others.
    pub(crate) arguments: Vec<OsString>,
    /// Which browser it is, if it is one.
    pub(crate) browser: Option<BrowserFamily>,
    /// A variable that it needs while it is confined, with its value.
    pub(crate) confined: Option<(&'static str, &'static str)>,
    /// A folder with settings of toolkits, which hold before those of the desktop.
    pub(crate) settings: Option<PathBuf>,
}

/// A family of browsers with a protocol of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrowserFamily {
    /// Chromium and what is made of it: the Chrome DevTools Protocol.
    Chromium,
    /// Firefox: WebDriver BiDi.
    Firefox,
}

impl BrowserFamily {
    /// The word for arguments and files; also the name of the folder of its profile.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Firefox => "firefox",
        }
    }

    /// The socket on which the program answers that holds it. Applications do not see it.
    pub(crate) fn socket(self, private: &Path) -> PathBuf {
        private.join(OWN_FOLDER).join(format!("{}-pages.sock", self.word()))
    }
}

/// The browser whose windows have this class, or whose program has this name.
pub(crate) fn browser_of(name: &str) -> Option<BrowserFamily> {
    family_of(&name.to_lowercase())?.browser
}

/// A program that starts a browser as its child, holds its protocol, and answers on a socket ([`BrowserHolder::arguments`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserHolder {
    /// The program.
    pub program: PathBuf,
    /// Its first arguments.
    pub arguments: Vec<OsString>,
}

impl BrowserHolder {
    /// Placeholder among the arguments of the browser for those of the holder's protocol.
    pub const PLACEHOLDER: &str = "{protocol}";

    /// All arguments that start a browser: `[--confined] --engine E --socket S --profile P -- PROGRAM ARGUMENTS…`.
    pub(crate) fn arguments(
        &self,
        browser: BrowserFamily,
        private: &Path,
        confine: &Confine,
        program: &Path,
        arguments: Vec<OsString>,
    ) -> Vec<OsString> {
        let mut all = self.arguments.clone();
        all.extend((confine.privileges() == Privileges::Confined).then(|| "--confined".into()));
        all.extend(["--engine".into(), browser.word().into(), "--socket".into()]);
        all.extend([browser.socket(private).into(), "--profile".into(), private.join(browser.word()).into()]);
        all.extend(["--".into(), program.into()]);
        all.extend(arguments);
        all
    }
}

const PROGRAMS: &[ProgramFamily] = &[
    ProgramFamily {
        names: &[
            "soffice",
            "soffice.bin",
            "libreoffice*",
            "localc",
            "lowriter",
            "loimpress",
            "lodraw",
            "lomath",
            "lobase",
        ],
        arguments: &["-env:UserInstallation=file://{private}/libreoffice", "--norestore", "--nologo"],
        as_superuser: &[],
        files: &[
            ("libreoffice/user/registrymodifications.xcu", LIBREOFFICE_SETTINGS),
            ("libreoffice/settings/gtk-3.0/settings.ini", STILL),
        ],
        browser: None,
        confined: None,
        settings: Some("libreoffice/settings"),
    },
    ProgramFamily {
        names: &["chromium*", "google-chrome*", "chrome", "brave*", "microsoft-edge*"],
        arguments: &[
            "--user-data-dir={private}/chromium",
            "--no-first-run",
            "--no-default-browser-check",
            // It exposes only one node per window otherwise.
            EXPOSE_PAGES,
            // What is scrolled is there at once.
            "--disable-smooth-scrolling",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--password-store=basic",
        ],
        as_superuser: &["--no-sandbox"],
        files: &[],
        browser: Some(BrowserFamily::Chromium),
        confined: None,
        settings: None,
    },
    ProgramFamily {
        names: &["firefox*"],
        arguments: &["--new-instance", "--profile", "{private}/firefox"],
        as_superuser: &[],
        files: &[("firefox/user.js", FIREFOX_SETTINGS)],
        browser: Some(BrowserFamily::Firefox),
        // Its processes for pages crash where they have a name space of users and may not write to `/proc`.
        confined: Some(("MOZ_ASSUME_USER_NS", "0")),
        settings: None,
    },
];

/// Placeholder for the name of the desktop's pipe in the content of a file.
const PIPE: &str = "{pipe}";

/// No animations: LibreOffice draws its whole window for each picture of one, while it is to do something else.
const STILL: &str = "[Settings]\ngtk-enable-animations=false\n";

/// No tip of the day, news, donation bar or crash report, and no first-start behaviour: the first start of a version would test how
/// it draws rectangles of 4096 pixels, for almost a second. It listens on the pipe of the desktop, for calls of its own interface.
const LIBREOFFICE_SETTINGS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Common/Misc"><prop oor:name="ShowTipOfTheDay" oor:op="fuse"><value>false</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Misc"><prop oor:name="FirstRun" oor:op="fuse"><value>false</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Misc"><prop oor:name="CrashReport" oor:op="fuse"><value>false</value></prop></item>
<item oor:path="/org.openoffice.Setup/Office"><prop oor:name="ooSetupConnectionURL" oor:op="fuse"><value>pipe,name={pipe};urp;</value></prop></item>
<item oor:path="/org.openoffice.Setup/Product"><prop oor:name="WhatsNew" oor:op="fuse"><value>false</value></prop></item>
<item oor:path="/org.openoffice.Setup/Product"><prop oor:name="WhatsNewDialog" oor:op="fuse"><value>false</value></prop></item>
<item oor:path="/org.openoffice.Setup/Product"><prop oor:name="ooSetupLastVersion" oor:op="fuse"><value>99.9</value></prop></item>
<item oor:path="/org.openoffice.Setup/Product"><prop oor:name="LastTimeDonateShown" oor:op="fuse"><value>4102444800</value></prop></item>
<item oor:path="/org.openoffice.Setup/Product"><prop oor:name="LastTimeGetInvolvedShown" oor:op="fuse"><value>4102444800</value></prop></item>
</oor:items>
"#;

/// No welcome page, telemetry bar or default browser prompt; elements are always exposed, and the caret does not blink.
const FIREFOX_SETTINGS: &str = r#"user_pref("accessibility.force_disabled", -1);
user_pref("app.normandy.enabled", false);
user_pref("app.update.enabled", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("datareporting.policy.dataSubmissionPolicyBypassNotification", true);
user_pref("dom.successive_dialog_time_limit", 0);
user_pref("general.smoothScroll", false);
user_pref("remote.active-protocols", 1);
user_pref("remote.prefs.recommended", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
user_pref("trailhead.firstrun.didSeeAboutWelcome", true);
user_pref("ui.caretBlinkTime", 0);
"#;

/// Returns the requirements of `program` on the desktop with the folder `private`. Writes its files unless
/// they exist. Blocking.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn prepare(program: &Path, private: &Path, superuser: bool) -> io::Result<ProgramRequirements> {
    let name = program.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let Some(family) = family_of(name) else { return Ok(ProgramRequirements::default()) };
    for (path, content) in family.files {
        let content = match content.contains(PIPE) {
            true => content.replace(PIPE, &pipe_name(private)?),
            false => (*content).to_owned(),
        };
        write_beneath(private, Path::new(path), content.as_bytes())?;
    }
    let superusers = if superuser { family.as_superuser } else { &[] };
    let filled = |argument: &&str| OsString::from(argument.replace("{private}", &private.to_string_lossy()));
    Ok(ProgramRequirements {
        arguments: family.arguments.iter().chain(superusers).map(filled).collect(),
        browser: family.browser,
        confined: family.confined,
        settings: family.settings.map(|folder| private.join(folder)),
    })
}

/// The family of a program, by its file name.
fn family_of(name: &str) -> Option<&'static ProgramFamily> {
    let is = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *pattern,
    };
    PROGRAMS.iter().find(|family| family.names.iter().any(is))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn private() -> tempfile::TempDir {
        let private = tempfile::tempdir().unwrap();
        super::super::folders::create_own(private.path()).unwrap();
        private
    }

    #[test]
    fn each_family_gets_its_own_profile_folder() {
        let private = private();
        let check = |program: &str, superuser: bool, expected: Option<&str>, sandbox: bool| {
            let needs = prepare(Path::new(program), private.path(), superuser).unwrap();
            let joined = needs.arguments.join(OsStr::new(" ")).into_string().unwrap();
            match expected {
                Some(part) => {
                    assert!(joined.contains(part), "{joined}");
                    assert!(joined.contains(&private.path().display().to_string()), "{joined}");
                }
                None => assert_eq!(joined, ""),
            }
            assert_eq!(joined.contains("--no-sandbox"), !sandbox, "{joined}");
        };
        check("/usr/bin/libreoffice", false, Some("UserInstallation=file:///"), true);
        check("/usr/bin/localc", true, Some("UserInstallation"), true);
        check("/usr/bin/chromium", false, Some("--user-data-dir"), true);
        check("/usr/bin/chromium-browser", true, Some("--user-data-dir"), false);
        check("/usr/bin/firefox-esr", false, Some("--profile"), true);
        check("/usr/bin/mousepad", true, None, true);
        assert!(private.path().join("libreoffice/user/registrymodifications.xcu").exists());
        assert!(private.path().join("firefox/user.js").exists());
    }

    #[test]
    fn libreoffice_gets_no_animations() {
        let private = private();
        let settings = prepare(Path::new("soffice"), private.path(), false).unwrap().settings.unwrap();
        assert_eq!(fs::read_to_string(settings.join("gtk-3.0/settings.ini")).unwrap(), STILL);
        assert_eq!(prepare(Path::new("chromium"), private.path(), false).unwrap().settings, None);
    }

    #[test]
    fn existing_settings_are_kept() {
        let private = tempfile::tempdir().unwrap();
        let file = private.path().join("firefox/user.js");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "mine").unwrap();
        prepare(Path::new("firefox"), private.path(), false).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    }
}
