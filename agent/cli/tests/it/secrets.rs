//! Secrets by name: what arrives where they may be typed is their value, and no output of any kind contains it.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use deskhand_desktop::Picture;
use deskhand_machine::{observation::Observation, record::JournalRecord, session::SessionEvent};
use deskhand_ui::{Element, WindowView, geometry::Rect};
use serde_json::{Value, json};

use crate::support::{World, has_programs};

/// With characters that are escaped in JSON, HTML and addresses.
const PASSWORD: &str = "Kanarienvogel \"7f3a\" & <Käfig>/9'x";
const TOKEN: &str = "tok_Zaunkoenig-4b1e";
const FORM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/secrets/login.py");

/// A value in the forms in which it could be written anywhere.
fn forms(value: &str) -> Vec<String> {
    let json = serde_json::to_string(value).unwrap();
    let twice = serde_json::to_string(&json).unwrap();
    let percent = |space: &str| {
        value.bytes().fold(String::new(), |mut text, byte| {
            match byte {
                b' ' => text.push_str(space),
                byte if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) => text.push(byte.into()),
                byte => write!(text, "%{byte:02x}").unwrap(),
            }
            text
        })
    };
    let html = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let hex = value.bytes().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let wide: String = value.chars().flat_map(|c| [c, '\0']).collect();
    let mut all = vec![
        value.to_owned(),
        json[1..json.len() - 1].to_owned(),
        twice[3..twice.len() - 3].to_owned(),
        percent("%20"),
        percent("+"),
        html.clone(),
        html.replace('\'', "&#39;"),
        html.replace('\'', "&#x27;").replace('/', "&#x2f;"),
        hex,
        wide,
        // A part of it, long enough to be nothing else.
        value.split(['"', '-']).next().unwrap().trim().to_owned(),
        value.chars().rev().collect(),
    ];
    all.iter_mut().for_each(|form| *form = form.to_lowercase());
    all
}

/// Fails if bytes contain a secret in any form.
#[track_caller]
fn clean(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    for form in forms(PASSWORD).into_iter().chain(forms(TOKEN)) {
        if let Some(at) = text.find(&form) {
            let around: String =
                text[..at].chars().rev().take(120).collect::<Vec<_>>().into_iter().rev().collect();
            panic!("{what} contains `{form}` after `{around}`");
        }
    }
}

/// Every file below a folder, besides these.
fn files(folder: &Path, besides: &[&Path]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if besides.contains(&path.as_path()) || kind.is_symlink() {
        } else if kind.is_dir() {
            all.extend(files(&path, besides));
        } else if kind.is_file() {
            all.push(path);
        }
    }
    all
}

/// Looks at the command lines and environments of all processes of a world, until one of them ends. Its own are left out, also
/// in a process of it that is about to become another program.
fn watch_processes(world: &World, child: &mut Child) -> BTreeSet<String> {
    let own = i32::try_from(child.id()).unwrap();
    let mut own_line = String::new();
    let mut seen = BTreeSet::new();
    while child.try_wait().unwrap().is_none() {
        let all = world.processes();
        if let Some((_, line)) = all.iter().find(|(pid, _)| *pid == own) {
            own_line.clone_from(line);
        }
        for (pid, line) in all.into_iter().filter(|(pid, _)| *pid != own) {
            clean("a command line", line.as_bytes());
            if line == own_line {
                continue;
            }
            clean(&line, &fs::read(format!("/proc/{pid}/environ")).unwrap_or_default());
            seen.insert(line.split(' ').next().unwrap_or_default().to_owned());
        }
    }
    seen
}

fn write_secret(world: &World, mode: u32) -> PathBuf {
    let file = world.file("private/shop", &format!("{PASSWORD}\n"));
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    file
}

/// The pictures of a session with the views that they belong to.
fn pictures(world: &World) -> Vec<(WindowView, Picture)> {
    let store = world.store();
    let folder = store.find("last").unwrap();
    let journal = folder.read().unwrap();
    let views = journal.lines.into_iter().filter_map(|line| {
        let JournalRecord::Event(event) = line.record else { return None };
        let SessionEvent::Observed { observation: Observation::Window(view) } = event.event else {
            return None;
        };
        Some(view)
    });
    let taken = views.filter_map(|view| {
        let picture = view.picture.clone()?;
        let pixels = Picture::from_png(&folder.picture(&picture).unwrap(), picture.region).unwrap();
        Some((view, pixels))
    });
    taken.collect()
}

/// Returns `true` if an area of a picture has one colour.
fn is_plain(picture: &Picture, element: &Element) -> bool {
    let place: Rect<_> = picture.place(&element.bounds.unwrap()).unwrap();
    let at = |x: i32, y: i32| {
        let start = usize::try_from(3 * (y * picture.region.width + x)).unwrap();
        picture.rgb[start..start + 3].to_vec()
    };
    let first = at(place.x, place.y);
    (place.y..place.bottom()).all(|y| (place.x..place.right()).all(|x| at(x, y) == first))
}

/// What a reader of pictures finds in a file.
fn read_picture(file: &Path) -> String {
    let output = Command::new("tesseract").arg(file).args(["-", "--psm", "11"]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What commands print of the session and write, in processes that have read no secret.
fn every_command_is_clean(world: &World) {
    for arguments in [
        &["show", "last"][..],
        &["show", "last", "--records"],
        &["sessions"],
        &["replay", "last"],
        &["verify", "last"],
        &["config", "explain", "secrets.shop.file"],
        &["secret", "list"],
        &["secret", "list", "--json"],
        &["report", "last", "--format", "html", "--output", "report.html"],
        &["report", "last", "--format", "markdown", "--output", "report.md"],
        &["report", "last", "--format", "jsonl", "--output", "report.jsonl"],
        &["report", "last", "--format", "ufo", "--output", "report-ufo"],
    ] {
        let output = world.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", world.shown(&output));
        clean(&format!("{arguments:?}"), &output.stdout);
        clean(&format!("{arguments:?}"), &output.stderr);
    }
}

#[test]
fn a_secret_arrives_and_no_output_contains_it() {
    if !has_programs(&["python3", "tesseract"]) {
        return;
    }
    let world = World::new();
    let secret = write_secret(&world, 0o600);
    let log = world.file("oracle/log.json", "");
    world.file("turns.toml", include_str!("secrets/form.toml"));
    world.configure(
        "[secrets.shop]\nfile = \"~/private/shop\"\napplication = \"*\"\n\
         [secrets.token]\nenv = \"SHOP_TOKEN\"\napplication = \"*\"\nrole = \"text\"\nwindow = \"Log in\"\n\
         [people]\napprovals = \"all\"\n[view]\nmarks = false\npicture_side_max = 0\n",
    );
    let mut command = world.command(&["run", "log in with secret:shop", "--model", "script:turns.toml"]);
    command
        .args(["--script-var", &format!("form={FORM}"), "--script-var", &format!("log={}", log.display())])
        .args(["--desktop", "virtual", "--json", "--screenshot", "end.png"])
        .env("SHOP_TOKEN", TOKEN)
        .env("DESKHAND_LOG", "trace")
        .stdout(fs::File::create(world.path().join("stdout.txt")).unwrap())
        .stderr(fs::File::create(world.path().join("stderr.txt")).unwrap());
    let mut child = command.spawn().unwrap();
    let seen = watch_processes(&world, &mut child);
    let status = child.wait().unwrap();
    let errors = fs::read_to_string(world.path().join("stderr.txt")).unwrap();
    let end: String = errors.chars().rev().take(3_000).collect::<Vec<_>>().into_iter().rev().collect();
    assert!(status.success(), "{end}");
    // The programs of the desktop were there to be looked at.
    assert!(seen.iter().any(|program| program.contains("Xvfb")), "{seen:?}");

    let arrived: Value = serde_json::from_str(&fs::read_to_string(&log).unwrap()).unwrap();
    assert_eq!(arrived, json!({"user": "", "password": PASSWORD, "token": TOKEN}));

    every_command_is_clean(&world);
    let all = files(world.path(), &[&secret, &log]);
    let names: String = all.iter().map(|file| format!("{}\n", file.display())).collect();
    for wanted in [
        "journal.jsonl",
        "prompts-",
        ".png",
        "report.html",
        "report.jsonl",
        "report.md",
        "stdout.txt",
        "stderr.txt",
    ] {
        assert!(names.contains(wanted), "no {wanted} in\n{names}");
    }
    for file in &all {
        clean(&file.display().to_string(), &fs::read(file).unwrap());
    }
    assert!(fs::read_to_string(world.path().join("stdout.txt")).unwrap().contains("secret:shop"));

    let taken = pictures(&world);
    let mut black = 0;
    for (view, picture) in &taken {
        let shows = |one: &&Element| {
            one.text.as_ref().is_some_and(|text| text.contains("secret:")) || one.name.contains("secret:")
        };
        for element in view.elements().filter(shows) {
            assert!(is_plain(picture, element), "{} is shown", element.label());
            black += 1;
        }
    }
    // The two fields, and later the label, in several pictures.
    assert!(black >= 6, "{black} in {} pictures", taken.len());
    for file in all.iter().filter(|file| file.extension().is_some_and(|end| end == "png")) {
        clean(&file.display().to_string(), read_picture(file).as_bytes());
    }
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn a_secret_that_cannot_be_read_is_named_and_never_printed() {
    let world = World::new();
    let secret = write_secret(&world, 0o644);
    world.configure(
        "[secrets.shop]\nfile = \"~/private/shop\"\napplication = \"Shop\"\n\
         [secrets.token]\nenv = \"SHOP_TOKEN\"\napplication = \"Shop\"\nrole = \"entry\"\nhost = \"shop.example\"\n",
    );
    let check = |expected: &[&str]| {
        let output = world.command(&["secret", "check"]).env("SHOP_TOKEN", TOKEN).output().unwrap();
        let shown = world.shown(&output);
        clean("the output", shown.as_bytes());
        assert!(expected.iter().all(|text| shown.contains(text)), "{shown}");
    };
    check(&[
        "exit 1\n",
        "secret:shop  the file ~/private/shop can be read or changed by others (mode 644)",
        "secret:token  can be read",
    ]);
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    check(&["exit 0\n", "secret:shop  can be read"]);
    fs::remove_file(&secret).unwrap();
    check(&["exit 1\n", "secret:shop  the file ~/private/shop cannot be read"]);
    let shown = world.run(&["secret", "check", "bank"]);
    assert!(
        shown.contains("there is no secret `bank`") && shown.contains("configured: shop, token"),
        "{shown}"
    );
    let shown = world.run(&["secret", "list"]);
    assert!(
        shown.contains(
            "secret:token  entry in a page of shop.example of Shop  from the environment variable SHOP_TOKEN"
        ),
        "{shown}"
    );

    world.configure("[secrets.shop]\napplication = \"Shop\"\n");
    let shown = world.run(&["secret", "list"]);
    assert!(shown.contains("`secrets.shop` cannot be used: it has no source"), "{shown}");
}

/// A key ring in a few lines, in another language.
const KEY_RING: &str = include_str!("secrets/key_ring.py");

#[test]
fn a_secret_comes_from_the_key_ring_of_the_session_bus() {
    if !has_programs(&["python3", "dbus-daemon"]) {
        return;
    }
    let world = World::new();
    let script = world.file("key_ring.py", KEY_RING);
    world.configure(
        "[secrets.shop]\nservice = { shop = \"example\", user = \"ada\" }\napplication = \"Shop\"\n\
         [secrets.several]\nservice = { shop = \"example\" }\napplication = \"Shop\"\n\
         [secrets.none]\nservice = { shop = \"other\" }\napplication = \"Shop\"\n\
         [secrets.locked]\nservice = { shop = \"locked\" }\napplication = \"Shop\"\n",
    );
    // The bus ends with its pipe, the key ring with its bus.
    let mut bus = Command::new("dbus-daemon")
        .args(["--session", "--nofork", "--print-address=1"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let address = first_line(&mut bus);
    let mut ring = Command::new("/usr/bin/python3")
        .arg(&script)
        .env("DBUS_SESSION_BUS_ADDRESS", &address)
        .env("KEY_RING_VALUE", PASSWORD)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(first_line(&mut ring), "ready");
    let output = world
        .command(&["secret", "check"])
        .env("DBUS_SESSION_BUS_ADDRESS", &address)
        .env("DESKHAND_LOG", "trace")
        .output()
        .unwrap();
    let shown = world.shown(&output);
    for expected in [
        "secret:shop  can be read",
        "has 2 items with these attributes",
        "has no item with these attributes",
        "is locked; unlock the key ring first",
    ] {
        assert!(shown.contains(expected), "{expected} in {shown}");
    }
    clean("the log", &output.stderr);
    clean("the output", &output.stdout);
    ring.kill().unwrap();
    ring.wait().unwrap();
    let output = world
        .command(&["secret", "check", "shop"])
        .env("DBUS_SESSION_BUS_ADDRESS", &address)
        .output()
        .unwrap();
    assert!(
        world.shown(&output).contains("the Secret Service (shop=example, user=ada) is not there"),
        "{}",
        world.shown(&output)
    );
    bus.kill().unwrap();
    bus.wait().unwrap();
}

fn first_line(child: &mut Child) -> String {
    use std::io::{BufRead as _, BufReader};
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim().to_owned()
}
