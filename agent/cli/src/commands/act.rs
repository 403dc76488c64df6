//! `deskhand act`: one action by hand, with what truly came of it.

use deskhand_desktop::{Capture as _, LaunchRequest, PointerChord, UiChange};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{
    ActLimits, ActionReport, ActionTarget, ByHand, Click, NewValue, PermittedDesktop, SaveAsOptions,
    ScrollDistance, SecretUse, TableTarget, TypeTextOptions,
};
use deskhand_host::Workspace;
use deskhand_machine::secret;
use deskhand_ui::{
    ElementCapability, WindowInfo,
    action::{ActionRoute, ElementChangeKind, Verdict},
    ids::{ElementId, WindowId},
    text::one_line,
};
use serde_json::{Value, json};

use super::{
    host::{act_on, by_hand},
    screenshot::save,
    secret::unknown,
    target::{CommandLineTarget, find},
};
use crate::{
    args::{ActArgs, ActCommand, TargetText},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
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
        let out = Output::to(OutputStream::Out);
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
    let desktop = &PermittedDesktop::new(&workspace.desktop, &ByHand, None);
    let limits = &ActLimits::default();
    if let ActCommand::Launch { program, arguments } = &args.action {
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
    async fn perform(&self, action: &ActCommand) -> Result<ActionReport, CliError> {
        let desktop = &PermittedDesktop::new(&self.workspace.desktop, &ByHand, None);
        let (window, limits) = (self.window.id, self.limits);
        let report = match action {
            ActCommand::Click { target, button, double, hold } => {
                let target = self.find(target).await?.target;
                let held = PointerChord { button: (*button).into(), modifiers: hold.clone() };
                let click = Click { target, held, count: if *double { 2 } else { 1 } };
                act::click(desktop, window, &click, limits).await
            }
            ActCommand::Press { chords } => act::press_keys(desktop, window, chords, limits).await,
            ActCommand::Scroll { target, down, right } => {
                let target = self.find(target).await?.target;
                let by = ScrollDistance { right: *right, down: *down };
                act::scroll(desktop, window, &target, by, limits).await
            }
            ActCommand::Drag { from, to } => {
                let (from, to) = (self.find(from).await?.target, self.find(to).await?.target);
                act::drag(desktop, window, (&from, &to), &PointerChord::default(), limits).await
            }
            ActCommand::Visit { path, context_menu_of: Some(of) } => {
                let (of, _) = self.element(of).await?;
                act::visit_context_menu(desktop, window, of, path, limits).await
            }
            ActCommand::Visit { path, context_menu_of: None } => {
                act::visit(desktop, window, path, limits).await
            }
            ActCommand::Save { keep_format } => {
                act::save(desktop, window, keep_format.then_some(true), limits).await
            }
            ActCommand::SaveAs { path, format, keep_format, overwrite } => {
                let request = SaveAsOptions {
                    path: path.to_string_lossy().into_owned(),
                    format: format.clone(),
                    keep_format: keep_format.then_some(true),
                    overwrite: *overwrite,
                };
                act::save_as(desktop, window, &request, limits).await
            }
            ActCommand::Close => act::close(desktop, window, limits).await,
            ActCommand::Activate => act::activate(desktop, window).await,
            ActCommand::Type { .. }
            | ActCommand::SetValue { .. }
            | ActCommand::Check { .. }
            | ActCommand::Invoke { .. }
            | ActCommand::Focus { .. }
            | ActCommand::Select { .. }
            | ActCommand::ReadText { .. } => return self.perform_on_element(action, window).await,
            ActCommand::ReadTable { .. } | ActCommand::WriteTable { .. } | ActCommand::SelectCells { .. } => {
                return self.perform_on_table(action, window).await;
            }
            ActCommand::Launch { .. } => return Err(CliError::new("a program is started in no window")),
        };
        Ok(report?)
    }

    async fn perform_on_element(
        &self,
        action: &ActCommand,
        window: WindowId,
    ) -> Result<ActionReport, CliError> {
        let (desktop, limits) = (&PermittedDesktop::new(&self.workspace.desktop, &ByHand, None), self.limits);
        let report = match action {
            ActCommand::Type { text, into, clear } => {
                let element = match into {
                    Some(target) => Some(self.element(target).await?),
                    None => None,
                };
                let (element, name) = element.map_or((None, None), |(id, name)| (Some(id), Some(name)));
                let request = TypeTextOptions { element, name, text: text.clone(), clear: *clear };
                match self.secret(text, element)? {
                    Some(hand) => {
                        let desktop = &PermittedDesktop::new(&self.workspace.desktop, &hand, Some(window));
                        act::type_text(desktop, window, &request, limits).await
                    }
                    None => act::type_text(desktop, window, &request, limits).await,
                }
            }
            ActCommand::SetValue { target, value } => return self.set_value(target, value, window).await,
            ActCommand::Check { target, off } => {
                let (id, name) = self.element(target).await?;
                act::set_checked(desktop, window, id, Some(&name), !off, limits).await
            }
            ActCommand::Invoke { target, action } => {
                let (id, name) = self.element(target).await?;
                act::invoke(desktop, window, id, Some(&name), action, limits).await
            }
            ActCommand::Focus { target } => {
                let (id, name) = self.element(target).await?;
                act::focus(desktop, window, id, Some(&name), limits).await
            }
            ActCommand::Select { list, item } => {
                let (id, _) = self.element(list).await?;
                act::select(desktop, window, id, item, limits).await
            }
            ActCommand::ReadText { target } => {
                let (id, name) = self.element(target).await?;
                act::read_text(desktop, window, id, Some(&name)).await
            }
            ActCommand::Click { .. }
            | ActCommand::Press { .. }
            | ActCommand::Scroll { .. }
            | ActCommand::Drag { .. }
            | ActCommand::Visit { .. }
            | ActCommand::ReadTable { .. }
            | ActCommand::WriteTable { .. }
            | ActCommand::SelectCells { .. }
            | ActCommand::Launch { .. }
            | ActCommand::Save { .. }
            | ActCommand::SaveAs { .. }
            | ActCommand::Close
            | ActCommand::Activate => return Err(CliError::new("the action is about no element")),
        };
        Ok(report?)
    }

    async fn set_value(
        &self,
        target: &TargetText,
        value: &str,
        window: WindowId,
    ) -> Result<ActionReport, CliError> {
        let (desktop, limits) = (&PermittedDesktop::new(&self.workspace.desktop, &ByHand, None), self.limits);
        let found = self.find(target).await?;
        let (id, name) = self.element_of(&found)?;
        let is_number = found.element.is_some_and(|element| {
            element.offers(ElementCapability::Value) && !element.offers(ElementCapability::EditableText)
        });
        let value = match value.trim().parse() {
            Ok(number) if is_number => NewValue::Number(number),
            _ => NewValue::Text(value.to_owned()),
        };
        let secret = if let NewValue::Text(text) = &value { self.secret(text, Some(id))? } else { None };
        let report = match secret {
            Some(hand) => {
                let desktop = &PermittedDesktop::new(&self.workspace.desktop, &hand, Some(window));
                act::set_value(desktop, window, id, Some(&name), &value, limits).await
            }
            None => act::set_value(desktop, window, id, Some(&name), &value, limits).await,
        };
        Ok(report?)
    }

    async fn perform_on_table(
        &self,
        action: &ActCommand,
        window: WindowId,
    ) -> Result<ActionReport, CliError> {
        let (desktop, limits) = (&PermittedDesktop::new(&self.workspace.desktop, &ByHand, None), self.limits);
        let report = match action {
            ActCommand::ReadTable { range, table } => {
                act::read_table(desktop, window, &self.table(table.as_ref()).await?, *range).await
            }
            ActCommand::WriteTable { rows, at, table } => {
                let rows: Vec<Vec<String>> = rows
                    .iter()
                    .map(|row| row.split(',').map(|cell| cell.trim().to_owned()).collect())
                    .collect();
                let table = self.table(table.as_ref()).await?;
                act::write_table(desktop, window, &table, *at, &rows, limits).await
            }
            ActCommand::SelectCells { range, table } => {
                let table = self.table(table.as_ref()).await?;
                act::select_cells(desktop, window, &table, range, limits).await
            }
            ActCommand::Click { .. }
            | ActCommand::Type { .. }
            | ActCommand::Press { .. }
            | ActCommand::SetValue { .. }
            | ActCommand::Check { .. }
            | ActCommand::Scroll { .. }
            | ActCommand::Drag { .. }
            | ActCommand::Invoke { .. }
            | ActCommand::Focus { .. }
            | ActCommand::Visit { .. }
            | ActCommand::Select { .. }
            | ActCommand::ReadText { .. }
            | ActCommand::Launch { .. }
            | ActCommand::Save { .. }
            | ActCommand::SaveAs { .. }
            | ActCommand::Close
            | ActCommand::Activate => return Err(CliError::new("the action is about no table")),
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

    async fn find(&self, target: &TargetText) -> Result<CommandLineTarget, CliError> {
        find(&self.workspace.desktop, self.window, target).await
    }

    async fn element(&self, target: &TargetText) -> Result<(ElementId, String), CliError> {
        let found = self.find(target).await?;
        self.element_of(&found)
    }

    #[expect(clippy::unused_self, reason = "reads as the last part of `element`")]
    fn element_of(&self, found: &CommandLineTarget) -> Result<(ElementId, String), CliError> {
        match (&found.target, &found.element) {
            (ActionTarget::Element { id, .. }, Some(element)) => Ok((*id, element.name.clone())),
            (ActionTarget::Element { .. } | ActionTarget::Point(_), _) => {
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
        Some(ActionRoute::Semantic) => "through the accessibility interface",
        Some(ActionRoute::Input) => "by mouse and keyboard events",
    };
    out.line(
        &StyledLine::of(verdict_tone(report.effect()), word)
            .with(OutputTone::Plain, format!("  {}", report.summary()))
            .with(OutputTone::Faint, format!("  ({route}, {} ms)", report.waited_ms())),
    );
    print_output(out, &report.output);
    if let Some(window) = &report.window {
        out.line(&StyledLine::of(OutputTone::Faint, "  window   ").with(OutputTone::Plain, window.label()));
    }
    for change in report.changes().take(CHANGES_SHOWN) {
        out.line(
            &StyledLine::of(OutputTone::Faint, "  changed  ").with(OutputTone::Plain, change_words(change)),
        );
    }
    let more = report.changes().count().saturating_sub(CHANGES_SHOWN);
    if more > 0 {
        out.line(&StyledLine::of(OutputTone::Faint, format!("           and {more} more; --json lists all")));
    }
}

fn print_output(out: &Output, output: &serde_json::Value) {
    if let Some(rows) = output.get("rows").and_then(serde_json::Value::as_array) {
        for row in rows {
            out.text(format!("  {}", row_words(row)));
        }
    } else if !output.is_null() {
        out.line(
            &StyledLine::of(OutputTone::Faint, "  output   ").with(OutputTone::Plain, output.to_string()),
        );
    }
}

/// A row of a table; no cell of it can begin another one.
fn row_words(row: &Value) -> String {
    let cells = row.as_array().into_iter().flatten().filter_map(Value::as_str);
    cells.map(one_line).collect::<Vec<_>>().join("\t")
}

fn change_words(change: &UiChange) -> String {
    let of = |element: Option<ElementId>| element.map_or_else(String::new, |id| format!(" {id}"));
    match change {
        UiChange::WindowOpened { title } => format!("window “{}” opened", one_line(title)),
        UiChange::WindowClosed { title } => format!("window “{}” closed", one_line(title)),
        UiChange::TitleChanged { title } => format!("the title is “{}”", one_line(title)),
        UiChange::Element { aspect: ElementChangeKind::Focus, element } => {
            format!("the focus moved to{}", of(*element))
        }
        UiChange::Element { aspect, element } => format!("{aspect}{}", of(*element)),
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
