//! Long tasks on real applications with a model that remembers nothing: what is needed at the end was read 20 to 60 steps earlier, in
//! another application.
//!
//! The model is a function of the prompt that it is shown. Each task is judged by the log of the form, which the form writes itself.

use std::{fs, process::Output};

use deskhand_machine::model::ReplyKind;
use deskhand_testkit::{
    endpoint::{Behaviour, MockEndpoint, prompt_text},
    shown::{id_of, listed, next_box, past, price_of, reading, section},
};
use deskhand_testkit_models::request::model_request;
use serde_json::{Value, json};

use crate::support::{World, has_programs};

/// Draws the form in several toolkits, and logs what was really used.
const FORM: &str = include_str!("../../../../bench/fixtures/parts_desk.py");
/// The Python that has the toolkits.
const PYTHON: &str = "/usr/bin/python3";
/// What is asked for; it does not say the price.
const REQUEST: &str = "Read the price of the lamp in the document. Then tick all boxes of the order, one after the other, and type the price of the lamp into Total.";
const PRICE: &str = "417.50";

/// One long task.
struct Task {
    /// The document that the price stands in.
    document: &'static str,
    /// The toolkit of the form.
    form: &'static str,
    /// How many boxes are ticked before the price is needed, one a step.
    boxes: u32,
    /// Whether the model notes the price; otherwise it has to be looked up.
    notes: bool,
}

const fn task(document: &'static str, form: &'static str, boxes: u32, notes: bool) -> Task {
    Task { document, form, boxes, notes }
}

/// How many of them are done unless `DESKHAND_LONG_TESTS` is set.
const SHORT: usize = 3;
const TASKS: [Task; 10] = [
    task("prices.fods", "gtk3", 20, false),
    task("prices.txt", "qt", 30, false),
    task("prices.html", "gtk4", 24, true),
    task("prices.fodt", "gtk3", 60, false),
    task("prices.fods", "qt", 40, true),
    task("prices.fods", "gtk4", 60, false),
    task("prices.txt", "gtk3", 40, true),
    task("prices.html", "gtk3", 60, false),
    task("prices.html", "qt", 60, false),
    task("prices.fodt", "qt", 50, true),
];

const ROWS: [[&str; 2]; 4] = [["Article", "Price"], ["Chair", "89.90"], ["Lamp", PRICE], ["Table", "230.00"]];

/// The text of the document.
fn document(name: &str) -> String {
    let namespaces = "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
                      xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" \
                      xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" office:version=\"1.3\"";
    let flat = |kind: &str, body: String| {
        format!(
            "<?xml version=\"1.0\"?><office:document {namespaces} \
             office:mimetype=\"application/vnd.oasis.opendocument.{kind}\"><office:body>{body}</office:body></office:document>"
        )
    };
    let lines = |make: &dyn Fn(&str, &str) -> String| -> String {
        ROWS.iter().map(|[article, price]| make(article, price)).collect()
    };
    match name.rsplit('.').next().unwrap_or_default() {
        "fods" => {
            let cell = |text: &str| {
                format!(
                    "<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>"
                )
            };
            let rows = lines(&|article, price| {
                format!("<table:table-row>{}{}</table:table-row>", cell(article), cell(price))
            });
            flat(
                "spreadsheet",
                format!(
                    "<office:spreadsheet><table:table table:name=\"Prices\">{rows}</table:table></office:spreadsheet>"
                ),
            )
        }
        "fodt" => {
            let lines = lines(&|article, price| format!("<text:p>{article} costs {price}</text:p>"));
            flat("text", format!("<office:text>{lines}</office:text>"))
        }
        "html" => {
            let rows = lines(&|article, price| format!("<tr><td>{article}</td><td>{price}</td></tr>"));
            format!("<!DOCTYPE html><title>Prices</title><table>{rows}</table>")
        }
        _ => lines(&|article, price| format!("{article} costs {price}\n")),
    }
}

/// The layout of the form: its boxes, six in a row, and the field that is filled in at the end.
fn layout(task: &Task) -> Value {
    let numbers: Vec<u32> = (1..=task.boxes).collect();
    let check = |number: &u32| json!({"kind": "check", "id": format!("item{number}"), "name": format!("Item {number}")});
    let row = |numbers: &[u32]| json!({"kind": "row", "of": numbers.iter().map(check).collect::<Vec<_>>()});
    let mut body: Vec<Value> = numbers.chunks(6).map(row).collect();
    body.push(json!({"kind": "entry", "id": "total", "name": "Total:"}));
    body.push(json!({"kind": "button", "id": "keep", "name": "Keep"}));
    json!({"toolkit": task.form, "title": "Order", "size": [800, 700], "status": "Ready", "body": body})
}

/// A model without a memory: its reply to a prompt.
fn reply(kind: ReplyKind, prompt: &str, task: &Task) -> Value {
    if kind == ReplyKind::HostAgent {
        return host(prompt);
    }
    let subtask = section(prompt, "Your sub-task");
    if subtask.contains("Look at the prices") { reads(prompt, task) } else { fills_in(prompt, task) }
}

fn host(prompt: &str) -> Value {
    let ended = section(prompt, "Sub-tasks so far");
    let assign = |target: &str, subtask: &str| json!({"thought": "next", "status": "ASSIGN", "current_subtask": subtask, "control_label": id_of(prompt, target)});
    if ended.contains("Fill in the order") {
        json!({"thought": "done", "status": "FINISH", "result": "ordered"})
    } else if id_of(prompt, "window \"Order").is_none() {
        json!({"thought": "the form is not open", "status": "CONTINUE", "function": "launch_application", "arguments": {"name": "Order"}})
    } else if ended.contains("Look at the prices") {
        assign(
            "window \"Order",
            "Fill in the order: tick all boxes, one after the other, then type the price of the lamp into Total and keep it.",
        )
    } else {
        assign("rices", "Look at the prices of all articles.")
    }
}

fn act(function: &str, arguments: &Value) -> Value {
    json!({"thought": "go on", "status": "CONTINUE", "action": [{"function": function, "arguments": arguments}]})
}

/// Reads the document, and notes the price or does not.
fn reads(prompt: &str, task: &Task) -> Value {
    if section(prompt, "Your steps on this sub-task so far").is_empty() {
        let (tool, element) = match task.document {
            "prices.fods" => ("read_table", "table \"Prices\""),
            "prices.html" => ("read_table", "] table"),
            "prices.fodt" => ("read_text", "] document"),
            _ => ("read_text", "] text"),
        };
        return act(tool, &json!({"id": id_of(prompt, element)}));
    }
    let mut reply =
        json!({"thought": "they were read", "status": "FINISH", "result": "the prices were read"});
    if task.notes {
        reply["notes"] = json!([format!("the Lamp costs {}", price_of("Lamp", prompt).unwrap_or_default())]);
    }
    reply
}

/// Ticks the next box; types the price when all are ticked, and looks it up if the prompt does not tell it.
fn fills_in(prompt: &str, task: &Task) -> Value {
    if let Some(id) = next_box(prompt, task.boxes) {
        return act("set_checked", &json!({"id": id, "checked": true}));
    }
    // Its label may be an element of its own, and the field without a name.
    let field = listed(prompt).find(|part| part.contains("] text") || part.contains("] entry"));
    let field = field.and_then(|part| id_of(part, "["));
    match price_of("Lamp", &past(prompt)) {
        Some(price) => {
            json!({"thought": "the price is known", "status": "FINISH", "result": "filled in", "action": [
                {"function": "set_value", "arguments": {"id": field, "value": price}},
                {"function": "click_element", "arguments": {"id": id_of(prompt, "\"Keep\"")}},
            ]})
        }
        None => match reading(prompt, "read_") {
            Some(id) => act("recall", &json!({"id": id})),
            None => act("recall", &json!({"words": "lamp"})),
        },
    }
}

/// Runs a task; returns what the command printed and what was kept.
async fn run(task: &'static Task) -> (Output, Value) {
    let world = World::new();
    world.file(task.document, &document(task.document));
    let (form, log) = (world.file("order.py", FORM), world.path().join("log.jsonl"));
    let shown = world.file("layout.json", &layout(task).to_string());
    let exec = format!("{PYTHON} {} {} {}", form.display(), shown.display(), log.display());
    let entry = format!("[Desktop Entry]\nType=Application\nName=Order\nExec={exec}\n");
    world.file(".local/share/applications/order-form.desktop", &entry);
    world.configure("[[policy.rules]]\nlabel = \"Order\"\ndecision = \"allow\"\n[limits]\nsteps_max = 200\nmodel_calls_max = 300\n");
    let endpoint = MockEndpoint::answering(move |body| {
        Behaviour::reply(reply(model_request(body).reply, &prompt_text(body), task).to_string())
    });
    let endpoint = endpoint.await.unwrap();
    let mut command = world.command(&["run", REQUEST, "--desktop", "virtual", "--open", task.document]);
    command.args(["--model", "openai:mock", "--base-url", &endpoint.base_url()]);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let lines = fs::read_to_string(log).unwrap_or_default();
    let entries: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kept = entries.into_iter().find(|entry| entry["control"] == "keep").unwrap_or_default();
    (output, kept["state"].clone())
}

async fn check(task: &'static Task) {
    let (output, kept) = run(task).await;
    let named = format!("{} to {}, {} boxes", task.document, task.form, task.boxes);
    let shown = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat();
    assert!(output.status.success(), "{named}: {shown}");
    assert_eq!(kept["total"], PRICE, "{named}: {shown}");
    println!(
        "{named}: {}",
        shown.lines().rfind(|line| line.contains("model calls")).unwrap_or_default().trim()
    );
    assert!((1..=task.boxes).all(|number| kept[format!("item{number}")] == true), "{named}: {kept}");
}

/// Returns `true` if the applications of the tasks are here.
fn has_applications() -> bool {
    has_programs(&["mousepad", "chromium", "soffice", PYTHON])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_read_long_before_is_known_at_the_end() {
    if has_applications() {
        let all = std::env::var_os("DESKHAND_LONG_TESTS").is_some();
        for task in TASKS.iter().take(if all { TASKS.len() } else { SHORT }) {
            check(task).await;
        }
    }
}
