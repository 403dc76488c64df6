//! The workflow of the Parts Desk on each drift: without a model, and if it stops, with one.

use std::{collections::BTreeMap, fs};

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;

use super::{
    changes::apply,
    desk,
    drifts::{Choice, Drift, Kind},
    home::{Home, Ran, Surroundings},
    tasks::TASKS,
};

/// The toolkit that the workflow is learnt in.
const TOOLKIT: &str = "gtk3";
/// The name of the workflow.
const WORKFLOW: &str = "parts";
/// The values of the workflow; what it exports then.
const VALUES: [(&str, &str); 2] = [("part", "A-100"), ("warehouse", "North")];
const EXPECTED: &str = "part=A-100 stock=true warehouse=north";
/// The controls of the task.
const WANTED: [&str; 5] = ["part", "stock", "warehouse", "search", "export"];

/// How a drift ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ending {
    /// The result is right, and no model was asked.
    Alone,
    /// It stopped; with one call of a model the result is right.
    WithModel,
    /// It stopped, with a model as well.
    #[default]
    Stopped,
    /// It says that it is done, and the result is another one.
    Wrong,
}

/// What came of a drift.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Drifted {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) ending: Ending,
    /// Controls that were used and must not have been, in either run.
    pub(super) wrong: Vec<String>,
    /// The run without a model.
    pub(super) alone: Ran,
    /// The run with one.
    pub(super) with_model: Option<Ran>,
}

/// Learns the workflow on the desk as it is. The first run must be right, or nothing could be compared.
pub(super) fn learn(home: &Home) -> Result<()> {
    let layout = desk::layout(TOOLKIT)?;
    desk::install(home, &layout, &[])?;
    clear(home)?;
    let task = TASKS.iter().find(|task| task.name == WORKFLOW).context("find the task of the Parts Desk")?;
    let script = home.write("script.toml", task.script)?;
    let mut options = vec!["--model".to_owned(), format!("script:{}", script.display())];
    let mut request = task.request.to_owned();
    for (name, value) in VALUES {
        options.extend(["--script-var".to_owned(), format!("{name}={value}")]);
        request = request.replace(&format!("{{{name}}}"), value);
    }
    let ran = home.session("run", &Surroundings::USUAL, &options, &[request])?;
    let (exported, _) = log(home)?;
    ensure!(
        ran.is_finished() && exported == EXPECTED,
        "the Parts Desk could not be used: {} {exported}",
        ran.summary.reason
    );
    home.learn(WORKFLOW)
}

/// Runs the workflow on a drift.
pub(super) fn run(home: &Home, drift: &Drift) -> Result<Drifted> {
    let mut layout = desk::layout(TOOLKIT)?;
    drift.changes.iter().try_for_each(|change| apply(change, &mut layout))?;
    desk::install(home, &layout, drift.variables)?;
    let mut drifted = Drifted {
        name: drift.name.to_owned(),
        kind: drift.kind,
        ending: Ending::Stopped,
        wrong: Vec::new(),
        alone: Ran::default(),
        with_model: None,
    };
    let (alone, exported) = performed(home, drift, &["--heal", "off"], &mut drifted.wrong)?;
    drifted.ending = ending(&alone, &exported);
    drifted.alone = alone;
    if drifted.ending == Ending::Stopped {
        let script = home.write("healing.toml", &script(drift.choice))?;
        let model = format!("script:{}", script.display());
        let options = ["--heal", "auto", "--model", model.as_str()];
        let (ran, exported) = performed(home, drift, &options, &mut drifted.wrong)?;
        drifted.ending = match ending(&ran, &exported) {
            Ending::Alone if ran.summary.model_calls <= 1 => Ending::WithModel,
            Ending::Alone | Ending::Stopped | Ending::WithModel => Ending::Stopped,
            Ending::Wrong => Ending::Wrong,
        };
        drifted.with_model = Some(ran);
    }
    Ok(drifted)
}

/// One run, with what it exported; `wrong` takes in what else it used.
fn performed(home: &Home, drift: &Drift, options: &[&str], wrong: &mut Vec<String>) -> Result<(Ran, String)> {
    clear(home)?;
    let surroundings = Surroundings { screen: drift.screen, ..Surroundings::USUAL };
    let known: BTreeMap<&str, &str> = VALUES.iter().map(|(_, value)| (*value, *value)).collect();
    let mut then = vec![WORKFLOW.to_owned()];
    for (parameter, example) in home.parameters(WORKFLOW)? {
        if let Some(value) = known.get(example.as_str()) {
            then.extend([format!("--{parameter}"), (*value).to_owned()]);
        }
    }
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    let ran = home.session("do", &surroundings, &options, &then)?;
    let (exported, used) = log(home)?;
    for control in used {
        let is_meant = [&WANTED[..], drift.may_use].concat().contains(&control.as_str());
        if !is_meant && !wrong.contains(&control) {
            wrong.push(control);
        }
    }
    Ok((ran, exported))
}

fn ending(ran: &Ran, exported: &str) -> Ending {
    match (ran.is_finished(), exported == EXPECTED) {
        (true, true) => Ending::Alone,
        (true, false) => Ending::Wrong,
        (false, _) => Ending::Stopped,
    }
}

/// The reply about the step that stops, as a script.
fn script(choice: Choice) -> String {
    let reply = match choice {
        Choice::Use(element) => format!(r#""USE", "element": "{{{{element {element}}}}}""#),
        Choice::Press(element) => format!(r#""PRESS", "element": "{{{{element {element}}}}}""#),
        Choice::Stop => r#""STOP""#.to_owned(),
    };
    format!(
        "[[turn]]\nagent = \"AppAgent\"\nreply = '''{{\"thought\": \"It does what the step says.\", \"choice\": {reply}}}'''\n"
    )
}

/// Empties the log.
fn clear(home: &Home) -> Result<()> {
    home.write(desk::LOG, "").map(|_| ())
}

/// What was exported, and the controls that were used.
fn log(home: &Home) -> Result<(String, Vec<String>)> {
    let path = home.path(desk::LOG);
    let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    Ok((desk::exports(&text), desk::used(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_names_the_element_by_a_placeholder() {
        let text = script(Choice::Use(r#""push button" "Export" nth=2"#));
        assert!(
            text.contains(r#""choice": "USE", "element": "{{element "push button" "Export" nth=2}}"}"#),
            "{text}"
        );
        assert!(script(Choice::Stop).contains(r#""choice": "STOP"}"#));
    }
}
