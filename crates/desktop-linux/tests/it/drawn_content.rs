//! What a program draws and exposes nowhere: fields that are typed into. What was typed is told by the file that the program writes.

use std::{fs, path::PathBuf};

use deskhand_core::{command::Verdict, ids::ElementId};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, TypeText};

use crate::detection_model::{Stage, tk};

/// A form in Tk: a field, one that hides its text, a text of two lines, and a label that tells elsewhere which keys came to it.
const FORM: &str = r#"
import sys, tkinter
log = open(sys.argv[1], "a", buffering=1)
window = tkinter.Tk()
window.title("Customers")
window.geometry("480x340")
def field(name, y, **options):
    tkinter.Label(window, text=name).place(x=30, y=y)
    value = tkinter.StringVar()
    value.trace_add("write", lambda *_: log.write(name + "=" + value.get() + "\n"))
    entry = tkinter.Entry(window, textvariable=value, width=26, **options)
    entry.place(x=140, y=y)
    return entry
field("Customer", 30).focus_set()
field("Code", 65, show="*")
text = tkinter.Text(window, width=40, height=3)
text.insert("1.0", "Deliver before noon\nand ring the bell")
text.mark_set("insert", "2.8")
text.place(x=30, y=110)
text.bind("<KeyRelease>", lambda event: log.write("text=" + text.get("2.0", "2.end") + "\n"))
echo = tkinter.StringVar()
watcher = tkinter.Label(window, text="Press keys here", takefocus=True)
watcher.bind("<Button-1>", lambda event: watcher.focus_set())
watcher.bind("<Key>", lambda event: (echo.set(echo.get() + event.char), log.write("echo=" + echo.get() + "\n")))
watcher.place(x=30, y=210)
tkinter.Label(window, textvariable=echo).place(x=30, y=280)
tkinter.Label(window, text="Nickel").place(x=330, y=210)
window.mainloop()
"#;

async fn type_text(stage: &Stage, element: Option<ElementId>, text: &str) -> ActionReport {
    let request = TypeText { element, name: None, text: text.to_owned(), clear: false };
    act::type_text(&stage.desktop, stage.window.id, &request, &ActLimits::default()).await.unwrap()
}

fn last_line(log: &PathBuf) -> String {
    fs::read_to_string(log).unwrap().lines().last().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn typed_text_is_seen_where_it_is_drawn_and_only_there() {
    let Some((stage, log)) = tk(FORM, &[]).await else { return };
    stage.drawn("Customer").await;
    // Into the field that has the focus, and behind what is there then.
    let report = type_text(&stage, None, "Quarterly4711").await;
    assert_eq!((report.effect(), last_line(&log).as_str()), (Verdict::Seen, "Customer=Quarterly4711"));
    assert!(report.summary().contains("Quarterly4711"), "{}", report.summary());
    let report = type_text(&stage, None, " Globex").await;
    assert_eq!((report.effect(), last_line(&log).as_str()), (Verdict::Seen, "Customer=Quarterly4711 Globex"));
    // Dots are no proof, though the same word is drawn elsewhere.
    let tab = ["tab".parse().unwrap()];
    act::press_keys(&stage.desktop, stage.window.id, &tab, &ActLimits::default()).await.unwrap();
    let report = type_text(&stage, None, "Nickel").await;
    assert_eq!((report.effect(), last_line(&log).as_str()), (Verdict::Unknown, "Code=Nickel"));
    // Into the middle of a line.
    act::press_keys(&stage.desktop, stage.window.id, &tab, &ActLimits::default()).await.unwrap();
    let report = type_text(&stage, None, " twice").await;
    assert_eq!(last_line(&log), "text=and ring twice the bell");
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    // Words that come elsewhere than where they were typed.
    let watcher = stage.drawn("Press keys here").await;
    let report = type_text(&stage, Some(watcher.id), "Lisbon").await;
    assert_eq!(last_line(&log), "echo=Lisbon");
    assert_ne!(report.effect(), Verdict::Seen, "{}", report.summary());
    stage.end().await;
}
