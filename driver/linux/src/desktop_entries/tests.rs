//! The reader of desktop entries, on texts.

use super::*;

const CALC: &str = "\
[Desktop Entry]
# a comment
Type=Application
Name=LibreOffice Calc
Name[de]=LibreOffice Tabellen
Exec=libreoffice --calc %U
StartupWMClass=libreoffice-calc
[Desktop Action NewDocument]
Name=New Spreadsheet
Exec=libreoffice --calc
";

fn entries(texts: &[(&str, &str)]) -> DesktopEntries {
    let entries = texts.iter().filter_map(|(id, text)| DesktopEntry::parse(id, text)).collect();
    DesktopEntries { entries, ..DesktopEntries::default() }
}

fn some() -> DesktopEntries {
    entries(&[
        ("libreoffice-calc", CALC),
        ("org.xfce.mousepad", "[Desktop Entry]\nType=Application\nName=Mousepad\nExec=mousepad %U\n"),
        (
            "viewer",
            "[Desktop Entry]\nType=Application\nName=Image Viewer\nExec=/opt/v/eye %f\nNoDisplay=true\n",
        ),
    ])
}

#[test]
fn an_entry_is_found_by_all_its_names() {
    let all = some();
    let check = |wanted: &str, expected: Option<&str>| {
        assert_eq!(all.find(wanted).map(|entry| entry.id.as_str()), expected, "{wanted}");
    };
    check("LibreOffice Calc", Some("libreoffice-calc"));
    check("libreoffice calc", Some("libreoffice-calc"));
    check("libreoffice-calc", Some("libreoffice-calc"));
    check("libreoffice-calc.desktop", Some("libreoffice-calc"));
    check("mousepad", Some("org.xfce.mousepad"));
    check("Image Viewer", Some("viewer"));
    check("New Spreadsheet", None);
    check("Cacl", None);
}

#[test]
fn the_nearest_names_are_suggested() {
    let all = some();
    assert_eq!(all.nearest("Cacl"), ["LibreOffice Calc"]);
    assert_eq!(all.nearest("mosepad"), ["Mousepad"]);
    assert!(all.nearest("zzzzzz").is_empty());
}

#[test]
fn a_window_class_leads_to_its_entry() {
    let all = some();
    let check = |instance: &str, class: &str, expected: Option<&str>| {
        assert_eq!(all.find_by_class(instance, class).map(|entry| entry.name.as_str()), expected, "{class}");
    };
    check("libreoffice", "libreoffice-calc", Some("LibreOffice Calc"));
    check("mousepad", "Mousepad", Some("Mousepad"));
    check("x", "Unknown", None);
    check("", "", None);
}

#[test]
fn command_lines_are_split_and_filled() {
    let check = |exec: &str, files: &[&str], expected: &[&str]| {
        let text = format!("[Desktop Entry]\nType=Application\nName=A Name\nExec={exec}\n");
        let entry = DesktopEntry::parse("id", &text).unwrap();
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        assert_eq!(entry.command_line(&files), expected, "{exec}");
    };
    check("libreoffice --calc %U", &[], &["libreoffice", "--calc"]);
    check("libreoffice --calc %U", &["a b.ods"], &["libreoffice", "--calc", "a b.ods"]);
    check("editor", &["x"], &["editor", "x"]);
    check("\"/opt/my app/run\" --title=%c 100%% %i %k", &[], &["/opt/my app/run", "--title=A Name", "100%"]);
    check(r#"sh -c "echo \\"hi\\" \\$HOME""#, &[], &["sh", "-c", "echo \"hi\" $HOME"]);
    check(r#"a "" b"#, &[], &["a", "", "b"]);
    check("a --file=%f -x", &["/b"], &["a", "--file=/b", "-x"]);
    check("a --file=%f -x", &[], &["a", "-x"]);
    let text = "[Desktop Entry]\nType=Application\nName=N\nIcon=pic\nExec=a %i %k %F\n";
    let entry = DesktopEntry { file: "/x/n.desktop".into(), ..DesktopEntry::parse("n", text).unwrap() };
    assert_eq!(entry.command_line(&["b".to_owned()]), ["a", "--icon", "pic", "/x/n.desktop", "b"]);
}

#[test]
fn entries_that_are_no_applications_are_left_out() {
    for text in [
        "",
        "[Desktop Entry]\nType=Link\nName=A\nExec=a\n",
        "[Desktop Entry]\nType=Application\nName=A\n",
        "[Desktop Entry]\nType=Application\nName=A\nExec=a\nHidden=true\n",
    ] {
        assert_eq!(DesktopEntry::parse("id", text), None, "{text}");
    }
}

#[test]
fn data_folders_follow_the_environment() {
    let check = |variables: &[(&str, &str)], expected: &[&str]| {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(data_folders(find), expected);
    };
    let (flatpak, snap) = ("/var/lib/flatpak/exports/share", "/var/lib/snapd/desktop");
    let user = "/home/a/.local/share/flatpak/exports/share";
    check(
        &[("HOME", "/home/a")],
        &["/home/a/.local/share", "/usr/local/share", "/usr/share", user, flatpak, snap],
    );
    let set = [("XDG_DATA_HOME", "/d"), ("XDG_DATA_DIRS", "/x:relative:/var/lib/snapd/desktop")];
    check(&set, &["/d", "/x", snap, "/d/flatpak/exports/share", flatpak]);
}

#[test]
fn what_runs_what_it_is_given_is_no_application_of_a_menu() {
    let entry = |name: &str, exec: &str, more: &str| {
        format!("[Desktop Entry]\nType=Application\nName={name}\nExec={exec}\n{more}")
    };
    let texts = [
        ("libreoffice-calc", CALC.to_owned()),
        ("org.xfce.mousepad", entry("Mousepad", "mousepad %U", "")),
        ("hidden", entry("Hidden", "hidden", "NoDisplay=true\n")),
        ("htop", entry("Htop", "htop", "Terminal=true\n")),
        ("debian-xterm", entry("XTerm", "xterm", "Categories=System;TerminalEmulator;\n")),
        ("shell", entry("A Shell", "/usr/bin/bash", "")),
        ("snake", entry("Snake", "python3.11 /usr/games/snake.py", "")),
        // Its name means the shell.
        ("org.example.shell", entry("Example", "example", "")),
    ];
    let texts: Vec<(&str, &str)> = texts.iter().map(|(id, text)| (*id, text.as_str())).collect();
    let applications = entries(&texts).applications();
    let ids: Vec<&str> = applications.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["libreoffice-calc", "org.xfce.mousepad"]);
    for (wanted, is_named) in [
        ("Mousepad", true),
        ("mousepad", true),
        ("org.xfce.mousepad.desktop", true),
        ("libreoffice", true),
        ("LibreOffice Calc", true),
        ("bash", false),
        ("mouse", false),
        ("/usr/bin/mousepad", false),
        ("", false),
    ] {
        assert_eq!(applications.iter().any(|one| one.is_named(wanted)), is_named, "{wanted}");
    }
}

#[test]
fn a_program_means_an_application_only_with_the_command_line_of_its_entry() {
    let entry =
        |name: &str, exec: &str| format!("[Desktop Entry]\nType=Application\nName={name}\nExec={exec}\n");
    let texts = [
        ("web-browser", entry("Web Browser", "exo-open --launch WebBrowser %u")),
        ("mail-reader", entry("Mail Reader", "exo-open --launch MailReader %u")),
        ("terminal-emulator", entry("Console", "exo-open --launch TerminalEmulator")),
        ("org.example.App", entry("An App", "/usr/bin/flatpak run org.example.App @@u %U @@")),
        ("office-calc", entry("Calc", "office --calc %U")),
        ("office-start", entry("Office", "office %U")),
        ("player", entry("Player", "play --quiet %F")),
        ("opener", entry("Opener", "exo-open %u")),
        ("slow", entry("Slow", "timeout 60 play %F")),
        ("anything", entry("Anything", "xdg-open %u")),
    ];
    let texts: Vec<(&str, &str)> = texts.iter().map(|(id, text)| (*id, text.as_str())).collect();
    let all = entries(&texts);
    let applications = all.applications();
    let is_listed = |name: &str| applications.iter().any(|one| one.is_named(name));
    for (name, line) in [
        ("office", &["office", "a"][..]),
        ("play", &["play", "--quiet", "a"]),
        ("Web Browser", &["exo-open", "--launch", "WebBrowser", "a"]),
        ("An App", &["/usr/bin/flatpak", "run", "org.example.App", "@@u", "a", "@@"]),
    ] {
        assert!(is_listed(name), "{name}");
        assert_eq!(all.find(name).unwrap().command_line(&["a".to_owned()]), line, "{name}");
    }
    for (name, shell) in [("sh", "sh -c \"exec client\""), ("python3", "python3 /x.py")] {
        let text = entry("Client", shell);
        assert_eq!(entries(&[("client", &text)]).find(name), None, "{name}");
    }
    for name in [
        "exo-open", "flatpak", "Opener", "Slow", "timeout", "Anything", "xdg-open", "Console", "wine",
        "nohup",
    ] {
        assert!(!is_listed(name), "{name}");
    }
}

#[test]
fn an_application_is_found_by_what_a_person_calls_it() {
    let entry = |name: &str, exec: &str, more: &str| {
        format!("[Desktop Entry]\nType=Application\nName={name}\nExec={exec}\n{more}")
    };
    let editor = "GenericName=Text Editor\nGenericName[de]=Texteditor\nKeywords=Text;Editor;\n";
    let texts = [
        (
            "firefox-esr",
            entry("Firefox ESR", "/usr/lib/firefox-esr/firefox-esr %u", "GenericName=Web Browser\n"),
        ),
        ("emacs", entry("Emacs (GUI)", "emacs %F", editor)),
        ("emacsclient", entry("Emacs (Client)", "emacsclient %F", "NoDisplay=true\n")),
        ("org.xfce.mousepad", entry("Mousepad", "mousepad %U", editor)),
        (
            "libreoffice-impress",
            entry(
                "LibreOffice Impress",
                "libreoffice --impress %U",
                "GenericName=Presentation\nKeywords=Slides;Show;\n",
            ),
        ),
        ("libreoffice-calc", CALC.to_owned()),
        ("gimp", entry("GNU Image Manipulation Program", "gimp-2.10 %U", "GenericName=Image Editor\n")),
        ("spotify_spotify", entry("Spotify", "env BAMF_DESKTOP_FILE_HINT=/x /snap/bin/spotify %U", "")),
        ("org.example.Maps", entry("Atlas", "/usr/bin/flatpak run org.example.Maps", "")),
    ];
    let texts: Vec<(&str, &str)> = texts.iter().map(|(id, text)| (*id, text.as_str())).collect();
    let all = entries(&texts);
    let ids = |wanted: &str| match all.meant(wanted) {
        ApplicationNameMatch::One(entry) => vec![entry.id.clone()],
        ApplicationNameMatch::Several(several) => several.iter().map(|entry| entry.id.clone()).collect(),
        ApplicationNameMatch::None => Vec::new(),
    };
    for (wanted, expected) in [
        ("Mozilla Firefox", &["firefox-esr"][..]),
        ("web browser", &["firefox-esr"]),
        ("GNU Emacs", &["emacs"]),
        ("Impress", &["libreoffice-impress"]),
        ("presentation program", &["libreoffice-impress"]),
        ("slides", &["libreoffice-impress"]),
        ("LibreOffice Tabellen", &["libreoffice-calc"]),
        ("GIMP", &["gimp"]),
        ("the image editor", &["gimp"]),
        ("Spotify", &["spotify_spotify"]),
        ("spotify", &["spotify_spotify"]),
        ("maps", &["org.example.Maps"]),
        ("text editor", &["emacs", "org.xfce.mousepad"]),
        ("Texteditor", &["emacs", "org.xfce.mousepad"]),
        ("Microsoft Word", &[]),
        ("the", &[]),
        ("", &[]),
    ] {
        assert_eq!(ids(wanted), expected, "{wanted}");
    }
    let applications = all.applications();
    let named = |wanted: &str| applications.iter().filter(|one| one.is_named(wanted)).count();
    for (wanted, expected) in [
        ("Mozilla Firefox", 1),
        ("Impress", 1),
        ("spotify", 1),
        ("image editor", 1),
        ("text editor", 0),
        ("libreoffice", 0),
    ] {
        assert_eq!(named(wanted), expected, "{wanted}");
    }
}

#[test]
fn a_name_of_a_program_never_means_an_application_by_a_part_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let (applications, programs) = (folder.path().join("applications"), folder.path().join("bin"));
    for folder in [&applications, &programs] {
        std::fs::create_dir(folder).unwrap();
    }
    let idle = "[Desktop Entry]\nType=Application\nName=IDLE (Python)\nExec=/opt/idle\n";
    std::fs::write(applications.join("idle3.desktop"), idle).unwrap();
    let read = || DesktopEntries::read(&[folder.path().to_owned()], programs.as_os_str());
    assert_eq!(read().named("python").unwrap().id, "idle3");
    let program = programs.join("python");
    std::fs::write(&program, "").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(read().named("python"), None);
    assert_eq!(read().named("IDLE").unwrap().id, "idle3");
}
