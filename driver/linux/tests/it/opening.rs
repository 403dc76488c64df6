//! When windows count as open, and what they show then, on real applications.
//!
//! Skipped if the programs are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{fs, process::Command, time::Duration};

use deskhand_desktop::{LaunchRequest, TreeLimits, UiTree as _, WindowManagement as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionTarget, Click};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_ui::{ElementQuery, WindowKind, action::Verdict, ids::WindowId, keys::KeyChord};

use crate::{fixtures::outline, linux_x11::window_titled, programs::has_programs};

/// How much longer one way may take than another one that leads to the same.
const FACTOR: u64 = 6;

async fn launch(desktop: &LinuxDesktop, program: &str, arguments: &[&str]) -> (WindowId, u64) {
    let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let request = LaunchRequest { program: program.to_owned(), arguments };
    let report = act::launch(desktop, &request, &ActLimits::default()).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    (report.window.as_ref().unwrap().id, report.waited_ms())
}

async fn shut_down(desktop: LinuxDesktop) {
    desktop.shut_down().await;
}

/// The time of an editor with its elements is the measure: one without elements takes no longer than that, by far.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_of_toolkits_without_elements_are_there_once_they_are_mapped() {
    if !has_programs(&["xterm", "mousepad"]) {
        return;
    }
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let (_, usual_ms) = launch(&desktop, "mousepad", &[]).await;
    let (terminal, ms) = launch(&desktop, "xterm", &[]).await;
    assert!(ms <= usual_ms.max(100) * FACTOR, "xterm: {ms} ms, with elements: {usual_ms} ms");
    let windows = desktop.windows().await.unwrap();
    assert!(windows.iter().any(|window| window.id == terminal && !window.accessible), "{windows:?}");
    let tk = |arguments: &[&str]| Command::new("/usr/bin/python3").args(arguments).output();
    if tk(&["-c", "import tkinter"]).is_ok_and(|output| output.status.success()) {
        let script = "import tkinter; w = tkinter.Tk(); w.title('plain'); tkinter.Label(w, text='x').pack(); w.mainloop()";
        let (_, ms) = launch(&desktop, "/usr/bin/python3", &["-c", script]).await;
        assert!(ms <= usual_ms.max(100) * FACTOR, "Tk: {ms} ms, with elements: {usual_ms} ms");
    }
    shut_down(desktop).await;
}

/// Shows what `FIRST` makes, and after some time its window.
const STARTS: &str = "
import gi
gi.require_version('Gdk', '3.0')
gi.require_version('Gtk', '3.0')
from gi.repository import Gdk, GLib, Gtk
FIRST
first.show_all()
def begin():
    first.destroy()
    main = Gtk.Window(title='ready')
    column = Gtk.Box()
    for name in ['a', 'b', 'c']:
        column.add(Gtk.Button(label=name))
    main.add(column)
    main.show_all()
# Long enough that its window is drawn and at rest.
GLib.timeout_add(1500, begin)
Gtk.main()
";
const SPLASH: &str = "
first = Gtk.Window(title='splash')
first.set_type_hint(Gdk.WindowTypeHint.SPLASHSCREEN)
first.add(Gtk.Label(label='loading'))
";
const PROGRESS: &str = "
first = Gtk.Dialog(title='searching')
first.get_content_area().add(Gtk.Label(label='for plug-ins'))
first.get_content_area().add(Gtk.ProgressBar())
first.add_button('Skip', 1)
first.add_button('Cancel', 2)
";

/// The title of the window that counts as opened.
async fn opened_after(first: &str) -> String {
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let (window, _) = launch(&desktop, "/usr/bin/python3", &["-c", &STARTS.replace("FIRST", first)]).await;
    let windows = desktop.windows().await.unwrap();
    let title = windows.iter().find(|info| info.id == window).unwrap().title.clone();
    shut_down(desktop).await;
    title
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_splash_screen_is_not_taken_for_the_window() {
    if has_programs(&["/usr/bin/python3"]) {
        assert_eq!(opened_after(SPLASH).await, "ready");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_that_shows_progress_is_not_taken_for_the_window() {
    if has_programs(&["/usr/bin/python3"]) {
        assert_eq!(opened_after(PROGRESS).await, "ready");
    }
}

const BUSY: &str = "
import gi
gi.require_version('Gtk', '3.0')
from gi.repository import GLib, Gtk
greeting = Gtk.Window(title='greeting')
shown = Gtk.Label()
greeting.add(shown)
greeting.show_all()
count = 0
def works():
    global count
    count += 1
    if shown.get_parent():
        shown.get_parent().remove(shown)
    (column if count > 60 else greeting).add(shown)
    shown.set_text(str(count))
    shown.show()
    if count == 60:
        greeting.destroy()
        main.show_all()
    return True
main = Gtk.Window(title='ready')
column = Gtk.Box()
for name in ['a', 'b', 'c']:
    column.add(Gtk.Button(label=name))
main.add(column)
GLib.timeout_add(12, works)
Gtk.main()
";

/// It builds its windows anew all the time, so that none of them is ever idle.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_never_rests_is_open_once_it_shows_its_elements() {
    if !has_programs(&["/usr/bin/python3"]) {
        return;
    }
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let (window, ms) = launch(&desktop, "/usr/bin/python3", &["-c", BUSY]).await;
    let windows = desktop.windows().await.unwrap();
    let found = windows.iter().find(|info| info.id == window);
    assert_eq!(found.map(|info| info.title.as_str()), Some("ready"), "{windows:?}");
    let names = desktop.tree(window, TreeLimits::default()).await.unwrap();
    let has = |name: &str| names.elements.iter().any(|element| element.name == name);
    assert!(has("a") && has("b") && has("c"), "{}", outline(&names));
    let bound_ms = u64::try_from(ActLimits::default().launch.as_millis()).unwrap();
    assert!(ms < bound_ms / 2, "{ms} of {bound_ms} ms");
    shut_down(desktop).await;
}

const MODAL: &str = "
import gi
gi.require_version('Gdk', '3.0')
gi.require_version('Gtk', '3.0')
from gi.repository import Gdk, Gtk
main = Gtk.Window(title='slides')
main.set_default_size(400, 300)
column = Gtk.Box()
for name in ['a', 'b', 'c']:
    column.add(Gtk.Button(label=name))
main.add(column)
main.show_all()
choice = Gtk.Window(title='Choose', transient_for=main, modal=True)
choice.set_type_hint(Gdk.WindowTypeHint.NORMAL)
choice.add(Gtk.Button(label='Blue'))
choice.show_all()
Gtk.main()
";

/// The window manager gives the focus to the modal one, so that to wait for it on the other one would be in vain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_modal_window_is_a_dialog_of_its_owner_whatever_its_type_says() {
    if !has_programs(&["/usr/bin/python3"]) {
        return;
    }
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    launch(&desktop, "/usr/bin/python3", &["-c", MODAL]).await;
    let choice = window_titled(&desktop, "Choose").await;
    let main = window_titled(&desktop, "slides").await;
    assert_eq!((choice.kind, choice.owner), (WindowKind::Dialog, Some(main.id)));
    // An error if it did not get the focus in time.
    desktop.activate(main.id).await.unwrap();
    let report = act::activate(&desktop, main.id).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    shut_down(desktop).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_fails_is_reported_with_what_it_said() {
    if !has_programs(&["sh", "mousepad"]) {
        return;
    }
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let start = async |program: &str, arguments: &[&str]| {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let request = LaunchRequest { program: program.to_owned(), arguments };
        act::launch(&desktop, &request, &ActLimits::default()).await
    };
    for word in ["first", "second"] {
        let script = format!("echo the {word} file is missing >&2; exit 2");
        let report = start("sh", &["-c", &script]).await.unwrap();
        assert_eq!(report.effect(), Verdict::NotSeen);
        let said = format!("(exit status: 2); it said \"the {word} file is missing\"");
        assert!(report.summary().ends_with(&said), "{}", report.summary());
    }
    // The maker's word before the name.
    let (window, _) = launch(&desktop, "Xfce Mousepad", &[]).await;
    assert!(
        desktop.windows().await.unwrap().iter().any(|info| info.id == window && info.app.name == "Mousepad")
    );
    shut_down(desktop).await;
}

/// The file dialog of GTK 3 runs a main loop of its own inside of the action that opens it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dialogs_that_an_action_opens_show_their_elements() {
    if !has_programs(&["mousepad"]) {
        return;
    }
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let limits = ActLimits::default();
    let (editor, _) = launch(&desktop, "mousepad", &[]).await;
    let press = async |keys: &str| {
        let keys = [keys.parse::<KeyChord>().unwrap()];
        act::press_keys(&desktop, editor, &keys, &limits).await.unwrap()
    };
    let elements = async |window: WindowId| desktop.tree(window, TreeLimits::default()).await.unwrap();

    let by_keys = press("ctrl+shift+s").await;
    let dialog = by_keys.window.clone().unwrap();
    let shown = elements(dialog.id).await.elements.len();
    press("Escape").await;

    for _ in 0..2 {
        let menu =
            act::find_element(&desktop, editor, &ElementQuery::named("File")).await.unwrap().unwrap().1;
        let open = Click::once(ActionTarget::element(menu.id));
        act::click(&desktop, editor, &open, &limits).await.unwrap();
        let item =
            act::find_element(&desktop, editor, &ElementQuery::named("Save As...")).await.unwrap().unwrap().1;
        let begun = std::time::Instant::now();
        let report = act::invoke(&desktop, editor, item.id, None, "click", &limits).await.unwrap();
        let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap();
        assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
        let usual_ms = by_keys.waited_ms().max(100);
        assert!(took_ms <= usual_ms * FACTOR, "{took_ms} ms, by keys {usual_ms} ms");
        let windows = desktop.windows().await.unwrap();
        let dialog = windows.iter().find(|window| window.title == dialog.title).unwrap();
        let tree = elements(dialog.id).await;
        assert!(tree.elements.len() * 2 > shown, "{shown} by keys, and now\n{}", outline(&tree));
        assert!(elements(editor).await.elements.len() > 5, "the window behind it is empty");
        let closed = press("Escape").await;
        assert_eq!(closed.effect(), Verdict::Seen, "{}", closed.summary());
    }
    shut_down(desktop).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_ends_without_a_window_fails_then() {
    if !has_programs(&["mousepad"]) {
        return;
    }
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let limits = ActLimits::default();
    for (program, ended) in [("true", "exit status: 0"), ("false", "exit status: 1")] {
        let request = LaunchRequest { program: program.to_owned(), arguments: Vec::new() };
        let report = act::launch(&desktop, &request, &limits).await.unwrap();
        assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
        assert!(report.summary().contains(ended), "{}", report.summary());
    }
    shut_down(desktop).await;
}

/// It keeps all processors busy while it starts; an office suite that starts beside it needs one, for longer. `/proc` tells the share.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_lets_others_go_first_and_has_an_equal_share_later() {
    let (true, Ok(own)) = (has_programs(&["chromium"]), fs::read_to_string("/proc/self/autogroup")) else {
        return;
    };
    // Whoever runs the tests may have given them a smaller share. A process that descends from no session has no group: nothing is read.
    let nice = |group: &str| group.trim_end().rsplit_once(' ').map_or("0", |(_, nice)| nice).to_owned();
    let own = nice(&own);
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let [browser, other] = [("chromium", "about:blank"), ("sleep", "600")].map(|(program, argument)| {
        LaunchRequest { program: program.to_owned(), arguments: vec![argument.to_owned()] }
    });
    let launched = desktop.launch_all(&[browser, other]).await.unwrap();
    let [browser, other] = [0, 1].map(|at: usize| format!("/proc/{}/autogroup", launched[at].pid));
    let share_becomes = async |share: &str| {
        let mut again = tokio::time::interval(Duration::from_millis(20));
        while nice(&fs::read_to_string(&browser).unwrap()) != share {
            again.tick().await;
        }
    };
    let bound = Duration::from_secs(60);
    tokio::time::timeout(bound, share_becomes("19")).await.unwrap();
    assert_eq!(nice(&fs::read_to_string(&other).unwrap()), own);
    tokio::time::timeout(bound, share_becomes(&own)).await.unwrap();
    shut_down(desktop).await;
}
