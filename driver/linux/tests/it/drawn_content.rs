//! What a program draws and exposes nowhere: fields that are typed into, and tables. What was typed and what the tables hold is told by the
//! file that the program writes.

use std::{fs, path::PathBuf};

use deskhand_desktop::{TreeLimits, UiTree as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click, TableTarget, TypeTextOptions};
use deskhand_ui::{ElementSource, action::Verdict, ids::ElementId};

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

/// Two windows' worth of tables on one canvas: a list with headings, or a sheet with letters and numbers.
const TABLES: &str = r##"
import json, sys, tkinter
window = tkinter.Tk()
window.title("Tables")
canvas = tkinter.Canvas(window, width=620, height=380, background="white")
canvas.pack()
stock = [["Item", "Count", "Price"], ["Copper pipe", "12", "4.50"], ["Iron plate", "7", "19.90"], ["Nickel wire", "130", "0.85"],
    ["Silver foil", "3", "64.00"]]
sheet = {"B2": "Region", "C2": "Orders", "D2": "Total", "B3": "North", "C3": "48", "D3": "1200", "B4": "South", "C4": "17", "D4": "425",
    "B6": "All", "D6": "1625"}
if sys.argv[2] == "list":
    for y, row in enumerate(stock):
        canvas.create_text(40, 60 + 24 * y, text=row[0], anchor="w")
        canvas.create_text(260, 60 + 24 * y, text=row[1], anchor="e")
        canvas.create_text(380, 60 + 24 * y, text=row[2], anchor="e")
    canvas.create_text(40, 260, text="Prices are those of today", anchor="w")
else:
    for at, letter in enumerate("ABCDE"):
        canvas.create_rectangle(40 + 100 * at, 20, 140 + 100 * at, 42, fill="#dddddd")
        canvas.create_text(90 + 100 * at, 31, text=letter)
    for row in range(1, 13):
        canvas.create_rectangle(10, 20 + 22 * row, 40, 42 + 22 * row, fill="#dddddd")
        canvas.create_text(25, 31 + 22 * row, text=str(row))
        for at in range(5):
            canvas.create_rectangle(40 + 100 * at, 20 + 22 * row, 140 + 100 * at, 42 + 22 * row, outline="#cccccc")
    for name, text in sheet.items():
        left, y = 40 + 100 * "ABCDE".index(name[0]), 31 + 22 * int(name[1:])
        is_number = text.isdigit()
        canvas.create_text(left + (96 if is_number else 4), y, text=text, anchor="e" if is_number else "w")
with open(sys.argv[1], "w") as log:
    json.dump({"list": stock, "sheet": sheet}, log)
window.mainloop()
"##;

async fn type_text(stage: &Stage, element: Option<ElementId>, text: &str) -> ActionReport {
    let request = TypeTextOptions { element, name: None, text: text.to_owned(), clear: false };
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
    let click = Click::once(ActionTarget::element(watcher.id));
    act::click(&stage.desktop, stage.window.id, &click, &ActLimits::default()).await.unwrap();
    for (into, typed, echo) in [(None, "Lisbon", "Lisbon"), (Some(watcher.id), " Madrid", "Lisbon Madrid")] {
        let report = type_text(&stage, into, typed).await;
        assert_eq!(last_line(&log), format!("echo={echo}"));
        assert_ne!(report.effect(), Verdict::Seen, "{}", report.summary());
    }
    stage.end().await;
}

/// The table that is read of a kind, and what its program drew.
async fn table(kind: &str) -> Option<(ActionReport, serde_json::Value)> {
    let (stage, log) = tk(TABLES, &[kind]).await?;
    stage.drawn(if kind == "list" { "Silver foil" } else { "Region" }).await;
    let tree = stage.desktop.tree(stage.window.id, TreeLimits::default()).await.unwrap();
    assert!(tree.elements.iter().all(|one| one.depth == 0 || one.source != ElementSource::AtSpi));
    let window = stage.window.id;
    let report = act::read_table(&stage.desktop, window, &TableTarget::Largest, None).await.unwrap();
    let drawn = serde_json::from_str(&fs::read_to_string(&log).unwrap()).unwrap();
    stage.end().await;
    Some((report, drawn))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_that_is_only_drawn_is_read_by_rows_and_columns() {
    let Some((report, drawn)) = table("list").await else { return };
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!((&report.output["rows"], &report.output["range"]), (&drawn["list"], &"A1:C5".into()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sheet_that_is_only_drawn_is_read_by_its_letters_and_numbers() {
    let Some((report, drawn)) = table("sheet").await else { return };
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(report.output["range"], "B2:D6", "{}", report.output);
    for (row, number) in (0..5).zip(2..) {
        for (column, letter) in ["B", "C", "D"].into_iter().enumerate() {
            let expected =
                drawn["sheet"].get(format!("{letter}{number}")).cloned().unwrap_or_else(|| "".into());
            assert_eq!(report.output["rows"][row][column], expected, "{letter}{number} of {}", report.output);
        }
    }
}
