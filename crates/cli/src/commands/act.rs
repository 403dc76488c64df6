//! `deskhand act`: one action by hand, with what truly came of it.

use deskhand_core::{
    action::Aspect,
    command::{Route, Verdict},
    ids::{ElementId, WindowId},
    secret,
    text::one_line,
    ui::{Pattern, WindowInfo},
};
use deskhand_desktop::{Capture as _, Change, Held, LaunchRequest};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{
    ActLimits, ActionReport, ByHand, Click, NewValue, Permitted, SaveAs, Scroll, SecretUse, TableTarget,
    Target, TypeText,
};
use deskhand_host::Workspace;
use serde_json::{Value, json};

use super::{
    host::{act_on, by_hand},
    screenshot::save,
    secret::unknown,
    target::{Found, find},
};
use crate::{
    args::{ActArgs, Action, TargetText},
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    render::verdict_tone,
};

/// The most changes that are printed.
const CHANGES_SHOWN: usize = 8;

pub(crate) async fn act(args: &ActArgs) -> CommandResult {
    let plan = by_hand(&args.stage)?;
    let looking = async |workspace: &Workspace| {
        let report = perform(workspace, args).await?;
        if let Some(file) = &args.screenshot {
            let picture = workspace.desktop.screen().await?;
            save(&picture, file)?;
        }
        let out = Output::to(Stream::Out);
        if args.json {
            out.pretty_json(&as_json(&report));
        } else {
            print(&out, &report);
        }
        Ok(if report.effect() == Verdict::Seen { Exit::Success } else { Exit::Negative })
    };
    act_on(&plan, looking).await
}

async fn perform(workspace: &Workspace, args: &ActArgs) -> Result<ActionReport, CliError> {
    let desktop = &Permitted::new(&workspace.desktop, &ByHand, None);
    let limits = &ActLimits::default();
    if let Action::Launch { program, arguments } = &args.action {
        let request = LaunchRequest { program: program.clone(), arguments: arguments.clone() };
        return Ok(act::launch(desktop, &request, limits).await?);
    }
    let window = workspace.window(args.window.as_deref()).await?;
    let hand = Hand { workspace, window: &window, limits };
    hand.perform(&args.action).await
}

/// Acts in one window.
struct Hand<'a> {
    workspace: &'a Workspace,
    window: &'a WindowInfo,
    limits: &'a ActLimits,
}

impl Hand<'_> {
    async fn perform(&self, action: &Action) -> Result<ActionReport, CliError> {
        let desktop = &Permitted::new(&self.workspace.desktop, &ByHand, None);
        let (window, limits) = (self.window.id, self.limits);
        let report = match action {
            Action::Click { target, button, double, hold } => {
                let target = self.find(target).await?.target;
                let held = Held { button: (*button).into(), modifiers: hold.clone() };
                let click = Click { target, held, count: if *double { 2 } else { 1 } };
                act::click(desktop, window, &click, limits).await
            }
            Action::Press { chords } => act::press_keys(desktop, window, chords, limits).await,
            Action::Scroll { target, down, right } => {
                let target = self.find(target).await?.target;
                let by = Scroll { right: *right, down: *down };
                act::scroll(desktop, window, &target, by, limits).await
            }
            Action::Drag { from, to } => {
                let (from, to) = (self.find(from).await?.target, self.find(to).await?.target);
                act::drag(desktop, window, (&from, &to), &Held::default(), limits).await
            }
            Action::Visit { path, context_menu_of: Some(of) } => {
                let (of, _) = self.element(of).await?;
                act::visit_context_menu(desktop, window, of, path, limits).await
            }
            Action::Visit { path, context_menu_of: None } => act::visit(desktop, window, path, limits).await,
            Action::Save { keep_format } => {
                act::save(desktop, window, keep_format.then_some(true), limits).await
            }
            Action::SaveAs { path, format, keep_format, overwrite } => {
                let request = SaveAs {
                    path: path.to_string_lossy().into_owned(),
                    format: format.clone(),
                    keep_format: keep_format.then_some(true),
                    overwrite: *overwrite,
                };
                act::save_as(desktop, window, &request, limits).await
            }
            Action::Close => act::close(desktop, window, limits).await,
            Action::Activate => act::activate(desktop, window).await,
            Action::Type { .. }
            | Action::SetValue { .. }
            | Action::Check { .. }
            | Action::Invoke { .. }
            | Action::Focus { .. }
            | Action::Select { .. }
            | Action::ReadText { .. } => return self.perform_on_element(action, window).await,
            Action::ReadTable { .. } | Action::WriteTable { .. } | Action::SelectCells { .. } => {
                return self.perform_on_table(action, window).await;
            }
            Action::Launch { .. } => return Err(CliError::new("a program is started in no window")),
        };
        Ok(report?)
    }

    async fn perform_on_element(&self, action: &Action, window: WindowId) -> Result<ActionReport, CliError> {
        let (desktop, limits) = (&Permitted::new(&self.workspace.desktop, &ByHand, None), self.limits);
        let report = match action {
            Action::Type { text, into, clear } => {
                let element = match into {
                    Some(target) => Some(self.element(target).await?),
                    None => None,
                };
                let (element, name) = element.map_or((None, None), |(id, name)| (Some(id), Some(name)));
                let request = TypeText { element, name, text: text.clone(), clear: *clear };
                match self.secret(text, element)? {
                    Some(hand) => {
                        let desktop = &Permitted::new(&self.workspace.desktop, &hand, Some(window));
                        act::type_text(desktop, window, &request, limits).await
                    }
                    None => act::type_text(desktop, window, &request, limits).await,
                }
            }
            Action::SetValue { target, value } => return self.set_value(target, value, window).await,
            Action::Check { target, off } => {
                let (id, name) = self.element(target).await?;
                act::set_checked(desktop, window, id, Some(&name), !off, limits).await
            }
            Action::Invoke { target, action } => {
                let (id, name) = self.element(target).await?;
                act::invoke(desktop, window, id, Some(&name), action, limits).await
            }
            Action::Focus { target } => {
                let (id, name) = self.element(target).await?;
                act::focus(desktop, window, id, Some(&name), limits).await
            }
            Action::Select { list, item } => {
                let (id, _) = self.element(list).await?;
                act::select(desktop, window, id, item, limits).await
            }
            Action::ReadText { target } => {
                let (id, name) = self.element(target).await?;
                act::read_text(desktop, window, id, Some(&name)).await
            }
            Action::Click { .. }
            | Action::Press { .. }
            | Action::Scroll { .. }
            | Action::Drag { .. }
            | Action::Visit { .. }
            | Action::ReadTable { .. }
            | Action::WriteTable { .. }
            | Action::SelectCells { .. }
            | Action::Launch { .. }
            | Action::Save { .. }
            | Action::SaveAs { .. }
            | Action::Close
            | Action::Activate => return Err(CliError::new("the action is about no element")),
        };
        Ok(report?)
    }

    async fn set_value(
        &self,
        target: &TargetText,
        value: &str,
        window: WindowId,
    ) -> Result<ActionReport, CliError> {
        let (desktop, limits) = (&Permitted::new(&self.workspace.desktop, &ByHand, None), self.limits);
        let found = self.find(target).await?;
        let (id, name) = self.element_of(&found)?;
        let is_number = found
            .element
            .is_some_and(|element| element.offers(Pattern::Value) && !element.offers(Pattern::EditableText));
        let value = match value.trim().parse() {
            Ok(number) if is_number => NewValue::Number(number),
            _ => NewValue::Text(value.to_owned()),
        };
        let secret = if let NewValue::Text(text) = &value { self.secret(text, Some(id))? } else { None };
        let report = match secret {
            Some(hand) => {
                let desktop = &Permitted::new(&self.workspace.desktop, &hand, Some(window));
                act::set_value(desktop, window, id, Some(&name), &value, limits).await
            }
            None => act::set_value(desktop, window, id, Some(&name), &value, limits).await,
        };
        Ok(report?)
    }

    async fn perform_on_table(&self, action: &Action, window: WindowId) -> Result<ActionReport, CliError> {
        let (desktop, limits) = (&Permitted::new(&self.workspace.desktop, &ByHand, None), self.limits);
        let report = match action {
            Action::ReadTable { range, table } => {
                act::read_table(desktop, window, &self.table(table.as_ref()).await?, *range).await
            }
            Action::WriteTable { rows, at, table } => {
                let rows: Vec<Vec<String>> = rows
                    .iter()
                    .map(|row| row.split(',').map(|cell| cell.trim().to_owned()).collect())
                    .collect();
                let table = self.table(table.as_ref()).await?;
                act::write_table(desktop, window, &table, *at, &rows, limits).await
            }
            Action::SelectCells { range, table } => {
                let table = self.table(table.as_ref()).await?;
                act::select_cells(desktop, window, &table, range, limits).await
            }
            Action::Click { .. }
            | Action::Type { .. }
            | Action::Press { .. }
            | Action::SetValue { .. }
            | Action::Check { .. }
            | Action::Scroll { .. }
            | Action::Drag { .. }
            | Action::Invoke { .. }
            | Action::Focus { .. }
            | Action::Visit { .. }
            | Action::Select { .. }
            | Action::ReadText { .. }
            | Action::Launch { .. }
            | Action::Save { .. }
            | Action::SaveAs { .. }
            | Action::Close
            | Action::Activate => return Err(CliError::new("the action is about no table")),
        };
        Ok(report?)
    }

    /// The secret that a text refers to, to be typed into this element.
    fn secret(&self, text: &str, into: Option<ElementId>) -> Result<Option<SecretUse<'_>>, CliError> {
        let Some(name) = secret::reference(text) else { return Ok(None) };
        let permits = &self.workspace.permits;
        let permit = permits.iter().find(|permit| permit.name == name);
        let known = permits.iter().map(|permit| permit.name.as_str());
        let permit = permit.ok_or_else(|| unknown(name, known))?;
        let field = into.ok_or_else(|| {
            CliError::usage("a secret is typed into one field").with_help("name the field with --into")
        })?;
        Ok(Some(SecretUse { permit, field, secrets: &self.workspace.secrets }))
    }

    async fn find(&self, target: &TargetText) -> Result<Found, CliError> {
        find(&self.workspace.desktop, self.window, target).await
    }

    async fn element(&self, target: &TargetText) -> Result<(ElementId, String), CliError> {
        let found = self.find(target).await?;
        self.element_of(&found)
    }

    #[expect(clippy::unused_self, reason = "reads as the last part of `element`")]
    fn element_of(&self, found: &Found) -> Result<(ElementId, String), CliError> {
        match (&found.target, &found.element) {
            (Target::Element { id, .. }, Some(element)) => Ok((*id, element.name.clone())),
            (Target::Element { .. } | Target::Point(_), _) => {
                Err(CliError::usage("this action needs an element, not a point")
                    .with_help("`deskhand tree` shows the elements of a window"))
            }
        }
    }

    async fn table(&self, wanted: Option<&TargetText>) -> Result<TableTarget, CliError> {
        match wanted {
            None => Ok(TableTarget::Largest),
            Some(target) => Ok(TableTarget::Element(self.element(target).await?.0)),
        }
    }
}

/// The report as `--json` prints it: the verdict and the sentence beside the data.
fn as_json(report: &ActionReport) -> Value {
    json!({
        "effect": report.effect(),
        "summary": report.summary(),
        "route": report.route(),
        "waited_ms": report.waited_ms(),
        "window": report.window,
        "output": report.output,
        "actions": report.actions,
    })
}

/// The report as lines: verdict, route, summary, what it returned, what changed.
fn print(out: &Output, report: &ActionReport) {
    let word = match report.effect() {
        Verdict::NotSeen => "not seen",
        verdict @ (Verdict::Seen | Verdict::Refused | Verdict::Unknown) => verdict.word(),
    };
    let route = match report.route() {
        None => "nothing was sent",
        Some(Route::Semantic) => "through the accessibility interface",
        Some(Route::Input) => "by mouse and keyboard events",
    };
    out.line(
        &Line::of(verdict_tone(report.effect()), word)
            .with(Tone::Plain, format!("  {}", report.summary()))
            .with(Tone::Faint, format!("  ({route}, {} ms)", report.waited_ms())),
    );
    print_output(out, &report.output);
    if let Some(window) = &report.window {
        out.line(&Line::of(Tone::Faint, "  window   ").with(Tone::Plain, window.label()));
    }
    for change in report.changes().take(CHANGES_SHOWN) {
        out.line(&Line::of(Tone::Faint, "  changed  ").with(Tone::Plain, change_words(change)));
    }
    let more = report.changes().count().saturating_sub(CHANGES_SHOWN);
    if more > 0 {
        out.line(&Line::of(Tone::Faint, format!("           and {more} more; --json lists all")));
    }
}

fn print_output(out: &Output, output: &serde_json::Value) {
    if let Some(rows) = output.get("rows").and_then(serde_json::Value::as_array) {
        for row in rows {
            out.text(format!("  {}", row_words(row)));
        }
    } else if !output.is_null() {
        out.line(&Line::of(Tone::Faint, "  output   ").with(Tone::Plain, output.to_string()));
    }
}

/// A row of a table; no cell of it can begin another one.
fn row_words(row: &Value) -> String {
    let cells = row.as_array().into_iter().flatten().filter_map(Value::as_str);
    cells.map(one_line).collect::<Vec<_>>().join("\t")
}

fn change_words(change: &Change) -> String {
    let of = |element: Option<ElementId>| element.map_or_else(String::new, |id| format!(" {id}"));
    match change {
        Change::WindowOpened { title } => format!("window “{}” opened", one_line(title)),
        Change::WindowClosed { title } => format!("window “{}” closed", one_line(title)),
        Change::TitleChanged { title } => format!("the title is “{}”", one_line(title)),
        Change::Element { aspect: Aspect::Focus, element } => format!("the focus moved to{}", of(*element)),
        Change::Element { aspect, element } => format!("{aspect}{}", of(*element)),
    }
}

#[cfg(test)]
mod tests {
    use deskhand_testkit::forgeries;

    use super::*;

    #[test]
    fn no_cell_begins_a_row() {
        for (what, text) in forgeries::all() {
            assert_eq!(row_words(&json!([text, "b"])).lines().count(), 1, "{what}");
        }
        assert_eq!(row_words(&json!(["a", "b\nc"])), "a\tb⏎c");
    }
}
