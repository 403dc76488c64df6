//! Actions on the fixtures' screen of controls that real actions were misjudged on; the log of the fixture tells what
//! happened.

use serde_json::json;

use super::{
    Dice, Failure,
    judge::{Deed, Player, Truth},
};

/// How long the application does not answer where it is made busy, in milliseconds.
const BUSY_MS: u64 = 700;

/// One or a few actions that belong together.
pub(crate) async fn turn(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    match dice.below(14) {
        0 => echo(player).await,
        1 | 2 => line(player, dice).await,
        3 => rendered(player).await,
        4 => form(player, dice).await,
        5 => corrected(player).await,
        6 => width(player, dice).await,
        7 => day(player, dice).await,
        8 | 9 => bold(player, dice).await,
        10 => save(player, dice).await,
        11 => nested(player).await,
        12 => sorted(player, dice).await,
        _ => target(player).await,
    }
}

async fn press(player: &mut Player<'_>, name: &str, truth: Truth, about: &[&str]) -> Result<(), Failure> {
    let Some(id) = player.id(name).await? else { return Ok(()) };
    player.play(Deed::new("click_element", json!({ "id": id, "name": name }), truth).about(about)).await?;
    Ok(())
}

async fn tell(player: &Player<'_>, command: &str, with: serde_json::Value) -> Result<(), Failure> {
    player.stage.fixture.as_ref().ok_or("no fixture")?.ask(command, with).await?;
    Ok(())
}

/// The echo of one click comes while the next one does nothing.
async fn echo(player: &mut Player<'_>) -> Result<(), Failure> {
    press(player, "Edit", Truth::Event("Edit", "clicked"), &["Edit"]).await?;
    press(player, "Inert", Truth::Nothing, &[]).await?;
    if player.stage.named("Undo").await?.is_some_and(|undo| undo.states.has(deskhand_ui::State::Enabled)) {
        press(player, "Undo", Truth::Event("Undo", "clicked"), &["Undo", "Undone", "Ready", "Edited"])
            .await?;
    }
    Ok(())
}

/// One click adds one line, busy or not.
async fn line(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    if dice.below(3) == 0 {
        tell(player, "busy", json!({ "milliseconds": BUSY_MS })).await?;
    }
    press(player, "Add line", Truth::Event("Add line", "clicked"), &["Journal", "Add line", "Line"]).await
}

/// The elements are replaced by others with the same names.
async fn rendered(player: &mut Player<'_>) -> Result<(), Failure> {
    let Some(id) = player.id("Discard").await? else { return Ok(()) };
    // The new elements read as the old ones, so nothing tells that it worked.
    let Some(refresh) = player.id("Refresh").await? else { return Ok(()) };
    let deed = Deed::new(
        "click_element",
        json!({ "id": refresh, "name": "Refresh" }),
        Truth::Event("Refresh", "clicked"),
    );
    player.play(deed.about(&["Apply", "Discard", "Help", "Items"]).blind()).await?;
    // The id is that of the element before.
    let truth = Truth::Event("Discard", "clicked");
    player.play(Deed::new("click_element", json!({ "id": id, "name": "Discard" }), truth).blind()).await?;
    Ok(())
}

async fn form(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let text = dice.pick(&["nobody", "ada@example.org"]);
    // Before the text is typed: a page that changes twice at once announces the last state alone.
    tell(player, "put", json!({ "control": "Answer", "value": "Nothing sent" })).await?;
    let Some(id) = player.id("Email").await? else { return Ok(()) };
    let arguments = json!({ "id": id, "name": "Email", "text": text, "clear": true });
    player.play(Deed::new("type_text", arguments, Truth::State("Email", json!(text)))).await?;
    let Some(id) = player.id("Send").await? else { return Ok(()) };
    let truth = Truth::Event("Send", "clicked");
    let deed = Deed::new("click_element", json!({ "id": id, "name": "Send" }), truth);
    let deed = deed.about(&["Sent", "Rejected", "Nothing sent"]);
    // A rejection that was shown before says nothing new.
    player.play(if text == "nobody" { deed.blind() } else { deed }).await?;
    Ok(())
}

/// What the application corrects does not read as it was typed, and must not be typed again.
async fn corrected(player: &mut Player<'_>) -> Result<(), Failure> {
    let (text, shown) = ("teh dash -- here", "The dash – here");
    let Some(id) = player.id("Corrected").await? else { return Ok(()) };
    let arguments = json!({ "id": id, "name": "Corrected", "text": text, "clear": true });
    player.play(Deed::new("type_text", arguments, Truth::State("Corrected", json!(text)))).await?;
    let state = player.stage.fixture.as_ref().ok_or("no fixture")?.state().await?;
    let found = state["Corrected"].as_str().unwrap_or_default();
    if found != shown {
        player.damaged(&format!("{found:?} instead of {shown:?}"));
    }
    Ok(())
}

/// More than the maximum is not accepted.
async fn width(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let value = 100 * (1 + dice.below(20));
    let Some(id) = player.id("Width").await? else { return Ok(()) };
    let arguments = json!({ "id": id, "name": "Width", "value": value });
    player.play(Deed::new("set_value", arguments, Truth::State("Width", json!(value)))).await?;
    Ok(())
}

async fn day(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let day = format!("2025-{:02}-{:02}", 1 + dice.below(12), 1 + dice.below(28));
    let Some(id) = player.id("Day").await? else { return Ok(()) };
    let arguments = json!({ "id": id, "name": "Day", "value": day });
    player.play(Deed::new("set_value", arguments, Truth::State("Day", json!(day))).blind()).await?;
    Ok(())
}

/// The toggle follows the selection late: what it shows is the old cell's state for a while.
async fn bold(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let cell = dice.pick(&["Plain", "Strong", "Also plain"]).to_owned();
    let Some(id) = player.id(&cell).await? else { return Ok(()) };
    let truth = Truth::State("Cells", json!(cell));
    let deed = Deed::new("click_element", json!({ "id": id, "name": cell }), truth).about(&[&cell, "Bold"]);
    player.play(deed).await?;
    let on = dice.below(2) == 0;
    let fixture = player.stage.fixture.as_ref().ok_or("no fixture")?;
    let mut wanted = fixture.ask("bold", json!({})).await?;
    wanted[cell.as_str()] = json!(on);
    let Some(id) = player.id("Bold").await? else { return Ok(()) };
    let arguments = json!({ "id": id, "name": "Bold", "checked": on });
    player.play(Deed::new("set_checked", arguments, Truth::Command("bold", json!({}), wanted))).await?;
    Ok(())
}

/// Saving takes its time.
async fn save(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let text = format!("Report {}", dice.below(1000));
    let Some(id) = player.id("Document").await? else { return Ok(()) };
    let arguments = json!({ "id": id, "name": "Document", "text": text, "clear": true });
    player.play(Deed::new("type_text", arguments, Truth::State("Document", json!(text)))).await?;
    let truth = Truth::Command("written", json!({}), json!(text));
    let about = ["Saved", "Saving", "Fixture teeth", "Status", "Ready"];
    player.play(Deed::new("press_keys", json!({ "keys": "ctrl+s" }), truth).about(&about)).await?;
    Ok(())
}

/// A dialog with a main loop of its own opens another one.
async fn nested(player: &mut Player<'_>) -> Result<(), Failure> {
    press(player, "Settings", Truth::Event("Settings", "clicked"), &["Settings"]).await?;
    for (button, control, event, about) in [
        ("More…", "Settings", "more", "Advanced"),
        ("Close", "Advanced", "close", "Advanced"),
        ("Close", "Settings", "close", "Settings"),
    ] {
        let wanted = deskhand_ui::ElementQuery::named(button);
        let found =
            deskhand_desktop_act::find_element(&player.stage.desktop, player.stage.window.id, &wanted)
                .await?;
        let Some((_, element)) = found else {
            player.skipped.push(format!("{}: no {button} in {about}", player.application));
            break;
        };
        let arguments = json!({ "id": element.id.to_string(), "name": button });
        player
            .play(Deed::new("click_element", arguments, Truth::Event(control, event)).about(&[about, button]))
            .await?;
    }
    tell(player, "close", json!({})).await?;
    Ok(())
}

/// After sorting, another row lies where one lay, whatever the application says of it.
async fn sorted(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let header = dice.pick(&["Name", "Size"]);
    let tree = player.stage.tree(player.stage.window.id).await?;
    let role = deskhand_ui::Role::new("column header");
    let found =
        tree.elements.iter().find(|one| one.name == header && one.bounds.is_some() && one.role == role);
    let found = found.or_else(|| tree.elements.iter().find(|one| one.name == header && one.bounds.is_some()));
    if let Some(found) = found {
        let arguments = json!({ "id": found.id.to_string(), "name": header });
        let deed = Deed::new("click_element", arguments, Truth::Event("Files", "sorted")).blind();
        player.play(deed).await?;
    }
    let file = dice.pick(&["garden.pdf", "apple.txt", "zebra.odt", "notes.md"]).to_owned();
    let Some(id) = player.id(&file).await? else { return Ok(()) };
    let truth = Truth::State("Files", json!(file));
    player.play(Deed::new("click_element", json!({ "id": id, "name": file }), truth).about(&[&file])).await?;
    Ok(())
}

async fn target(player: &mut Player<'_>) -> Result<(), Failure> {
    let Some(id) = player.id("Keep").await? else { return Ok(()) };
    // Nothing that shows changes.
    let deed =
        Deed::new("click_element", json!({ "id": id, "name": "Keep" }), Truth::Event("Target", "clicked"));
    player.play(deed.about(&["Keep"]).blind()).await?;
    Ok(())
}
