//! Models that work in pictures, on a real desktop: they are shown a picture of the window, and say where to click in it.

use std::{fs, path::PathBuf, process::Output};

use deskhand_machine::{
    observation::Observation,
    record::JournalRecord,
    session::{Effect, SessionEvent},
};
use deskhand_runtime::SessionStore;
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};
use deskhand_testkit_models::operators::{Move, Played, picture, png_size};
use deskhand_ui::{
    Element, WindowView,
    action::{ActionKind, ElementRef},
};
use regex::Regex;
use serde_json::Value;

use crate::{
    crash::{essence, expected},
    main_job::{REQUEST, example},
    support::{World, has_programs},
};

/// Plays the HostAgent and the AppAgent of Writer as the demo does, and lets the HostAgent check the rest.
fn script() -> String {
    let demo = fs::read_to_string(example("demo.script.toml")).unwrap();
    let (ours, _) = demo.split_once("[[turn]]\ntitle = \"enter the table").unwrap();
    let checked = r#"[[turn]]
agent = "HostAgent"
expect = 'The sheet is saved'
reply = '{"thought": "The operator saw the name in the title.", "status": "FINISH", "result": "charted"}'
"#;
    format!("{ours}{checked}")
}

/// A model that knows where things are on the screen, from what the session recorded of its last look, and works out the pixels of the
/// picture that it is shown by itself.
struct Eyes {
    store: SessionStore,
    played: Played,
    output: PathBuf,
    step: usize,
}

impl Eyes {
    fn reply(&mut self, body: &Value) -> Behaviour {
        let png = picture(body).expect("each question shows a picture");
        let size = png_size(&png).unwrap();
        if let Some(declared) = self.played.declared(body) {
            assert_eq!(
                declared,
                (u64::from(size.0), u64::from(size.1)),
                "the tool has the size of the picture"
            );
        }
        let view = last_view(&self.store);
        self.step += 1;
        match self.moves(&Seen { view: &view, size }, &body.to_string()) {
            Ok(moves) => self.played.reply("I know where it is.", &moves, size, self.step.is_multiple_of(2)),
            Err(problem) => {
                let shown: Vec<String> =
                    view.elements().map(|one| format!("{} {:?}", one.label(), one.bounds)).collect();
                Behaviour::error(
                    400,
                    "eyes",
                    &format!("step {}: {problem} in\n{}", self.step, shown.join("\n")),
                )
            }
        }
    }

    /// The Calc half of the demo.
    fn moves(&self, seen: &Seen<'_>, prompt: &str) -> Result<Vec<Move>, String> {
        let click = |role: &str, name: &str| seen.at(role, name).map(|(x, y)| vec![Move::Click(x, y)]);
        match self.step {
            1 => {
                // The first cell begins at the upper left corner of the sheet.
                let (x, y) = seen.corner("table", "Sheet Sheet1")?;
                Ok([vec![Move::Click(x, y)], typed(&rows(prompt)?)].concat())
            }
            2 => Ok(vec![Move::Drag(seen.at("table cell", "A1")?, seen.at("table cell", "C5")?)]),
            3 => click("menu", "Insert"),
            4 => click("menu item", "Chart..."),
            5 => click("table cell|tree item|list item|icon", "Bar"),
            6 => click("push button", "Finish"),
            7 => Ok(vec![Move::Keys(&["ctrl", "shift", "s"])]),
            8 => {
                let (x, y) = seen.at_first("text")?;
                let path = self.output.display().to_string();
                Ok(vec![Move::Click(x, y), Move::Keys(&["ctrl", "a"]), Move::Type(path)])
            }
            9 => click("push button", "Save"),
            // The title has the name once the file is written.
            10..=30 => {
                let is_saved = seen.view.surfaces[0].window.title.contains("sales.ods");
                Ok(vec![if is_saved { Move::Done("The sheet is saved".to_owned()) } else { Move::Wait }])
            }
            _ => Err("nothing is left to do".to_owned()),
        }
    }
}

/// The view of the last look that the running session recorded.
fn last_view(store: &SessionStore) -> WindowView {
    let journal = store.find("last").unwrap().read().unwrap();
    let view = journal.lines.into_iter().rev().find_map(|line| {
        let JournalRecord::Event(record) = line.record else { return None };
        let SessionEvent::Observed { observation: Observation::Window(view) } = record.event else {
            return None;
        };
        Some(view)
    });
    view.expect("an operator is asked after a look")
}

/// A view, and the size of the picture of it.
struct Seen<'a> {
    view: &'a WindowView,
    size: (u32, u32),
}

impl Seen<'_> {
    /// The middle of a control, in pixels of the picture. `roles` and `names` are alternatives.
    fn at(&self, roles: &str, names: &str) -> Result<(i32, i32), String> {
        let [x, y, width, height] = self.bounds(roles, names)?;
        Ok(self.pixel(x + width / 2, y + height / 2))
    }

    /// The middle of the first control of a role in the frontmost window.
    fn at_first(&self, role: &str) -> Result<(i32, i32), String> {
        let front = self.view.surfaces.last().ok_or("there is no window")?;
        let found = front.tree.elements.iter().find(|one| one.role.name() == role && one.bounds.is_some());
        let [x, y, width, height] =
            found.ok_or_else(|| format!("there is no {role}"))?.bounds.unwrap().into();
        Ok(self.pixel(x + width / 2, y + height / 2))
    }

    /// A little inside of its upper left corner.
    fn corner(&self, role: &str, name: &str) -> Result<(i32, i32), String> {
        let [x, y, ..] = self.bounds(role, name)?;
        Ok(self.pixel(x + 12, y + 9))
    }

    fn bounds(&self, roles: &str, names: &str) -> Result<[i32; 4], String> {
        let is_it = |one: &&Element| {
            roles.split('|').any(|role| one.role.name() == role)
                && names.split('|').any(|name| one.name == name)
                && one.bounds.is_some()
        };
        let mut found =
            self.view.surfaces.iter().rev().flat_map(|surface| surface.tree.elements.iter().filter(is_it));
        let element = found.next().ok_or_else(|| format!("there is no {roles} “{names}”"))?;
        Ok(element.bounds.unwrap().into())
    }

    /// A point of the screen in the picture, which shows all windows of the view, scaled.
    fn pixel(&self, x: i32, y: i32) -> (i32, i32) {
        let bounds = self.view.surfaces.iter().map(|surface| <[i32; 4]>::from(surface.window.bounds));
        let (mut left, mut top, mut right, mut bottom) = (i32::MAX, i32::MAX, i32::MIN, i32::MIN);
        for [x, y, width, height] in bounds {
            (left, top) = (left.min(x), top.min(y));
            (right, bottom) = (right.max(x + width), bottom.max(y + height));
        }
        let along = |at: i32, start: i32, end: i32, pixels: u32| {
            (f64::from(at - start) / f64::from(end - start) * f64::from(pixels)) as i32
        };
        (along(x, left, right, self.size.0), along(y, top, bottom, self.size.1))
    }
}

/// The table that the prompt shows.
fn rows(prompt: &str) -> Result<Vec<Vec<String>>, String> {
    let found = Regex::new(r#"\\*"rows\\*":(\[\[.*?\]\])"#).unwrap();
    let found = found.captures(prompt).ok_or("the prompt does not show the table")?;
    let rows: Vec<Vec<Value>> =
        serde_json::from_str(&found[1].replace('\\', "")).map_err(|error| error.to_string())?;
    let cell = |cell: Value| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
    Ok(rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect())
}

/// Types a table into a sheet. Calc completes a text that an earlier one in its column begins with; Delete removes what it added.
fn typed(rows: &[Vec<String>]) -> Vec<Move> {
    let (mut moves, mut text) = (Vec::new(), String::new());
    for (row, cells) in rows.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            text.push_str(cell);
            if rows[..row].iter().any(|above| above[column] != *cell && above[column].starts_with(cell)) {
                moves.extend([Move::Type(std::mem::take(&mut text)), Move::Keys(&["delete"])]);
            }
            text.push(if column + 1 == cells.len() { '\n' } else { '\t' });
        }
    }
    moves.push(Move::Type(text));
    moves
}

/// The main job with an operator for Calc, which speaks a protocol; judged by the file and by the journal.
async fn job(played: Played, provider: &str, setting: &str) {
    let world = World::new();
    fs::copy(example("sales.odt"), world.path().join("sales.odt")).unwrap();
    let script = world.file("host.script.toml", &script());
    let output = world.path().join("sales.ods");
    let mut eyes = Eyes { store: world.store(), played, output: output.clone(), step: 0 };
    let endpoint = MockEndpoint::answering(move |body| eyes.reply(body)).await.unwrap();
    world.configure(&format!(
        "[model]\nprovider = \"script\"\nscript = \"{}\"\n\
         [models.eyes]\nprovider = \"{provider}\"\nmodel = \"m\"\nbase_url = \"{}\"\ncomputer_use = \"{setting}\"\nattempts_max = 1\n\
         [roles.applications.\"LibreOffice Calc\"]\nmodel = \"eyes\"\n",
        script.display(),
        endpoint.base_url()
    ));
    let variable = format!("output={}", output.display());
    let arguments =
        ["run", REQUEST, "--open", "sales.odt", "--desktop", "virtual", "--json", "--script-var", &variable];
    let ran = run(&world, &arguments).await;
    let errors = String::from_utf8_lossy(&ran.stderr);
    let printed = String::from_utf8_lossy(&ran.stdout);
    let summary: Value = serde_json::from_str(printed.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{played:?}: {errors}"));
    assert_eq!(summary["outcome"], "finished", "{played:?}: {errors}\n{printed}");
    assert_eq!(essence(&output), expected(), "{played:?}: every cell and the chart");
    check_journal(&world.store(), played);
    let replay = world.run(&["replay", "last"]);
    assert!(replay.starts_with("exit 0\n") && replay.contains("effects equal"), "{replay}");
    assert_eq!(world.orphans(), Vec::<String>::new());
}

/// Runs the binary beside the endpoint of the test.
async fn run(world: &World, arguments: &[&str]) -> Output {
    let mut command = world.command(arguments);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

/// Every click and every drag of the operator is recorded with what it hit.
fn check_journal(store: &SessionStore, played: Played) {
    let journal = store.find("last").unwrap().read().unwrap();
    let mut hit = Vec::new();
    let mut tools = Vec::new();
    for line in journal.lines {
        if let JournalRecord::Effect(record) = &line.record
            && let Effect::Call { command } = &record.effect
        {
            tools.push(command.tool.clone());
        }
        let JournalRecord::Event(record) = line.record else { continue };
        let SessionEvent::Returned { result } = record.event else { continue };
        for action in result.report.actions() {
            if let ActionKind::Click { .. } | ActionKind::Drag { .. } = action.act {
                let element = action.aim.named_element().map(ElementRef::label);
                hit.push(element.unwrap_or_else(|| panic!("{played:?}: nothing was hit: {action:?}")));
            }
        }
    }
    eprintln!("{played:?}: {tools:?} {hit:?}");
    for label in
        ["menu \"Insert\"", "menu item \"Chart...\"", "push button \"Finish\"", "push button \"Save\""]
    {
        assert!(hit.iter().any(|one| one == label), "{played:?}: {label} is not among {hit:?}");
    }
    assert_eq!(hit.len(), 8, "{played:?}: {hit:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_does_the_calc_half_of_the_main_job_in_the_protocol_of_openai() {
    if has_programs(&["soffice"]) {
        job(Played::OpenAi, "openai_responses", "openai").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_does_the_calc_half_of_the_main_job_in_the_protocol_of_anthropic() {
    if has_programs(&["soffice"]) {
        job(Played::Anthropic, "anthropic", "anthropic").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_does_the_calc_half_of_the_main_job_in_the_protocol_of_ui_tars() {
    if has_programs(&["soffice"]) {
        job(Played::UiTars, "vllm", "ui_tars").await;
    }
}
