//! Actions on the fixtures' form with every kind of control; the log of the fixture tells what happened.

use deskhand_ui::State;
use std::time::Duration;

use serde_json::{Value, json};

use super::{
    Dice, Failure,
    judge::{Deed, Player, Truth},
};

const WORDS: &[&str] = &["north", "sea salt", "apple 7", "grüße", "東京 x", "The dash -- here"];

/// One or a few actions that belong together.
pub(crate) async fn turn(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    match dice.below(24) {
        0 | 1 => click(player).await,
        2 => checked(player, dice).await,
        3 | 4 => field(player, dice).await,
        5 => secret(player).await,
        6 | 7 => choice(player, dice).await,
        8 => number(player, dice).await,
        9 => dragging(player, dice).await,
        10 | 11 => menu(player, dice).await,
        12 => tab(player, dice).await,
        13 => plants(player).await,
        14 => place(player, dice).await,
        15 => table(player, dice).await,
        16 => notes(player, dice).await,
        17 => pasting(player, dice).await,
        18 => keys(player, dice).await,
        19 => looking(player).await,
        20 => clipboard(player, dice).await,
        21 => invoking(player).await,
        22 => waiting(player).await,
        _ => scrolling(player).await,
    }
}

async fn state(player: &Player<'_>, control: &str) -> Result<Value, Failure> {
    let fixture = player.stage.fixture.as_ref().ok_or("no fixture")?;
    Ok(fixture.state().await?[control].clone())
}

async fn click(player: &mut Player<'_>) -> Result<(), Failure> {
    let Some(id) = player.id("Count").await? else { return Ok(()) };
    let truth = Truth::Event("Count", "clicked");
    let deed = Deed::new("click_element", json!({ "id": id, "name": "Count" }), truth).about(&["Count"]);
    player.play(deed).await?;
    Ok(())
}

async fn checked(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let name = *[&"Agree", &"Red", &"Blue"][dice.below(3) as usize];
    let on = name != "Agree" || state(player, name).await? != json!(true);
    let Some(id) = player.id(name).await? else { return Ok(()) };
    let arguments = json!({ "id": id, "name": name, "checked": on });
    player.play(Deed::new("set_checked", arguments, Truth::State(name, json!(on)))).await?;
    Ok(())
}

async fn field(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let text = dice.pick(WORDS);
    let Some(id) = player.id("Name").await? else { return Ok(()) };
    let truth = Truth::State("Name", json!(text));
    let deed = if dice.below(2) == 0 {
        Deed::new("type_text", json!({ "id": id, "name": "Name", "text": text, "clear": true }), truth)
    } else {
        Deed::new("set_value", json!({ "id": id, "name": "Name", "value": text }), truth)
    };
    player.play(deed).await?;
    Ok(())
}

async fn secret(player: &mut Player<'_>) -> Result<(), Failure> {
    let Some(id) = player.id("Secret").await? else { return Ok(()) };
    let arguments = json!({ "id": id, "name": "Secret", "text": "pass word 1", "clear": true });
    player
        .play(Deed::new("type_text", arguments, Truth::State("Secret", json!("pass word 1"))).blind())
        .await?;
    Ok(())
}

async fn choice(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let option = dice.pick(&["Small", "Medium", "Large"]);
    // Qt calls a combo box by what it shows.
    let shown = state(player, "Size").await?;
    let found = match player.stage.named("Size").await? {
        Some(found) => Some(found.id.to_string()),
        None => player.id(shown.as_str().unwrap_or_default()).await?,
    };
    let Some(id) = found else { return Ok(()) };
    let arguments = json!({ "id": id, "item": option });
    player.play(Deed::new("select", arguments, Truth::State("Size", json!(option)))).await?;
    Ok(())
}

async fn number(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let name = *[&"Amount", &"Volume"][dice.below(2) as usize];
    let value = dice.below(11);
    let Some(id) = player.id(name).await? else { return Ok(()) };
    let arguments = json!({ "id": id, "name": name, "value": value });
    player.play(Deed::new("set_value", arguments, Truth::State(name, json!(value)))).await?;
    Ok(())
}

async fn dragging(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let tree = player.stage.tree(player.stage.window.id).await?;
    let named =
        |name: &str| tree.elements.iter().find(|one| one.name.starts_with(name) && one.bounds.is_some());
    let (Some(from), Some(to)) = (named("Drag me"), named("Drop")) else {
        player.skipped.push(format!("{}: nothing to drag", player.application));
        return Ok(());
    };
    let truth = Truth::Event("Drop here", "dropped");
    let deed = if dice.below(2) == 0 {
        Deed::new("drag", json!({ "from": from.id.to_string(), "to": to.id.to_string() }), truth)
    } else {
        let window = player.stage.window.bounds;
        let at = |bounds: Option<deskhand_ui::geometry::Rect<deskhand_ui::geometry::Screen>>| {
            let center = bounds.unwrap_or(window).center();
            let x = f64::from(center.x - window.x) / f64::from(window.width - 1);
            (x, f64::from(center.y - window.y) / f64::from(window.height - 1))
        };
        let ((start_x, start_y), (end_x, end_y)) = (at(from.bounds), at(to.bounds));
        let arguments = json!({ "start_x": start_x, "start_y": start_y, "end_x": end_x, "end_y": end_y });
        Deed::new("drag_on_coordinates", arguments, truth)
    };
    player.play(deed.about(&["Drop"])).await?;
    Ok(())
}

async fn menu(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let (path, item): (&[&str], &'static str) = match dice.below(3) {
        0 => (&["File", "New"], "New"),
        1 => (&["Insert", "Line"], "Line"),
        _ => (&["Insert", "Shapes", "Circle"], "Circle"),
    };
    let truth = Truth::Event(item, "chosen");
    let deed = Deed::new("visit", json!({ "path": path }), truth).about(&["Chosen", "Count", item]);
    // What is chosen again says nothing new.
    let says_it = player.stage.says(&format!("Chosen {item}")).await?;
    player.play(if says_it { deed.blind() } else { deed }).await?;
    Ok(())
}

async fn tab(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let tab = dice.pick(&["General", "Details"]);
    player.play(Deed::new("visit", json!({ "path": [tab] }), Truth::State("Tabs", json!(tab)))).await?;
    Ok(())
}

async fn plants(player: &mut Player<'_>) -> Result<(), Failure> {
    let Some(fruit) = player.stage.named("Fruit").await? else {
        player.skipped.push(format!("{}: no tree", player.application));
        return Ok(());
    };
    let open = !fruit.states.has(State::Expanded);
    let arguments = json!({ "id": fruit.id.to_string(), "name": "Fruit", "expanded": open });
    player.play(Deed::new("expand", arguments, Truth::Event("Fruit", "expanded"))).await?;
    Ok(())
}

async fn place(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let item = dice.pick(&["Place 1", "Place 2", "Place 3", "Place 4"]);
    let truth = Truth::State("Places", json!(item));
    if dice.below(2) == 0 {
        let Some(id) = player.id(item).await? else { return Ok(()) };
        player
            .play(Deed::new("click_element", json!({ "id": id, "name": item }), truth).about(&[item]))
            .await?;
    } else {
        let Some(id) = player.id("Places").await? else { return Ok(()) };
        player.play(Deed::new("select", json!({ "id": id, "item": item }), truth)).await?;
    }
    Ok(())
}

async fn table(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let Some(id) = player.id("Sales").await? else { return Ok(()) };
    let units = (100 + dice.below(900)).to_string();
    let mut wanted = state(player, "Sales").await?;
    wanted[0][0] = json!("East");
    wanted[0][1] = json!(units);
    let arguments = json!({ "id": id, "start": "A1", "rows": [["East", units]] });
    player.play(Deed::new("write_table", arguments, Truth::State("Sales", wanted))).await?;
    let read = json!({ "id": id, "range": "A1:B2" });
    let shown = state(player, "Sales").await?[0][1].as_str().unwrap_or_default().to_owned();
    player.play(Deed::new("read_table", read, Truth::Output(shown))).await?;
    Ok(())
}

async fn notes(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let fixture = player.stage.fixture.as_ref().ok_or("no fixture")?;
    let text = "Alpha beta gamma delta";
    fixture.ask("put", json!({ "control": "Notes", "value": text })).await?;
    // A page shows what it has changed itself a moment later.
    player.stage.settle(Duration::from_millis(200)).await?;
    let Some(id) = player.id("Notes").await? else { return Ok(()) };
    let read = json!({ "id": id, "name": "Notes" });
    player.play(Deed::new("read_text", read, Truth::Output(text.to_owned()))).await?;
    let word = dice.pick(&["beta", "gamma", "Alpha"]);
    let truth = Truth::Command("selection", json!({ "control": "Notes" }), json!(word));
    player.play(Deed::new("select_text", json!({ "id": id, "name": "Notes", "text": word }), truth)).await?;
    let wanted = text.replace(word, "new");
    player
        .play(Deed::new("type_text", json!({ "text": "new" }), Truth::State("Notes", json!(wanted))))
        .await?;
    Ok(())
}

async fn pasting(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let text = dice.pick(WORDS);
    let Some(id) = player.id("Notes").await? else { return Ok(()) };
    let arguments = json!({ "id": id, "name": "Notes", "text": text });
    player.play(Deed::new("paste_text", arguments, Truth::State("Notes", json!(text)))).await?;
    Ok(())
}

async fn keys(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let Some(id) = player.id("Name").await? else { return Ok(()) };
    let focus = json!({ "id": id, "name": "Name" });
    player.play(Deed::new("focus_element", focus, Truth::Unjudged)).await?;
    let chord = dice.pick(&["End", "Home", "shift+Home", "ctrl+a"]);
    player.play(Deed::new("press_keys", json!({ "keys": chord }), Truth::Unjudged).blind()).await?;
    Ok(())
}

async fn looking(player: &mut Player<'_>) -> Result<(), Failure> {
    player.play(Deed::new("more", json!({ "find": "Count" }), Truth::Unjudged)).await?;
    let title = player.stage.fixture.as_ref().ok_or("no fixture")?.title().to_owned();
    player.play(Deed::new("summary", json!({}), Truth::Output(title))).await?;
    Ok(())
}

async fn clipboard(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let text = dice.pick(WORDS);
    let truth = Truth::Oracle(json!({ "ask": "clipboard" }), json!(text));
    player.play(Deed::new("write_clipboard", json!({ "text": text }), truth)).await?;
    player.play(Deed::new("read_clipboard", json!({}), Truth::Output(text.to_owned()))).await?;
    Ok(())
}

async fn invoking(player: &mut Player<'_>) -> Result<(), Failure> {
    let Some(id) = player.id("Count").await? else { return Ok(()) };
    let action = match player.application {
        "gtk3" => "click",
        "gtk4" => "activate",
        "qt" => "Press",
        _ => "press",
    };
    let truth = Truth::Event("Count", "clicked");
    let arguments = json!({ "id": id, "name": "Count", "action": action });
    player.play(Deed::new("invoke_action", arguments, truth).about(&["Count"])).await?;
    Ok(())
}

async fn waiting(player: &mut Player<'_>) -> Result<(), Failure> {
    player.play(Deed::new("wait_for", json!({ "name": "Agree", "seconds": 5 }), Truth::Unjudged)).await?;
    player.play(Deed::new("wait", json!({ "seconds": 0.2 }), Truth::Unjudged)).await?;
    Ok(())
}

async fn scrolling(player: &mut Player<'_>) -> Result<(), Failure> {
    let Some(id) = player.id("Places").await? else { return Ok(()) };
    player.play(Deed::new("scroll", json!({ "id": id, "down": 2 }), Truth::Unjudged).blind()).await?;
    player.play(Deed::new("scroll", json!({ "id": id, "down": -2 }), Truth::Unjudged).blind()).await?;
    player.play(Deed::new("scroll_into_view", json!({ "id": id }), Truth::Unjudged)).await?;
    let Some(count) = player.stage.named("Count").await? else { return Ok(()) };
    let (window, bounds) = (player.stage.window.bounds, count.bounds);
    let Some(center) = bounds.map(|bounds| bounds.center()) else { return Ok(()) };
    let x = f64::from(center.x - window.x) / f64::from(window.width - 1);
    let y = f64::from(center.y - window.y) / f64::from(window.height - 1);
    let truth = Truth::Event("Count", "clicked");
    let deed = Deed::new("click_on_coordinates", json!({ "x": x, "y": y }), truth);
    player.play(deed.about(&["Count"])).await?;
    Ok(())
}
