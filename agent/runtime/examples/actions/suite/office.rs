//! Actions on `LibreOffice`; UNO tells what happened.

use serde_json::json;

use super::{
    Dice, Failure,
    judge::{Deed, Player, Truth},
};

fn cells(range: &str) -> serde_json::Value {
    json!({ "ask": "cells", "range": range })
}

/// One or a few actions on a spreadsheet.
pub(crate) async fn calc(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let row = 2 + dice.below(15);
    match dice.below(8) {
        0 | 1 => {
            let (units, range) = (dice.below(1000), format!("A{row}:C{row}"));
            let formula = format!("=B{row}*2");
            let rows = json!([["East", units.to_string(), formula]]);
            let wanted = json!([["East", units.to_string(), formula]]);
            let arguments = json!({ "start": format!("A{row}"), "rows": rows });
            player.play(Deed::new("write_table", arguments, Truth::Oracle(cells(&range), wanted))).await?;
        }
        2 => {
            let range = format!("B{row}:C{}", row + 2);
            let wanted = json!(format!("$Sheet1.$B${row}:$C${}", row + 2));
            let truth = Truth::Oracle(json!({ "ask": "selected" }), wanted);
            player.play(Deed::new("select_cells", json!({ "range": range }), truth)).await?;
        }
        3 | 4 => bold(player, row, dice.below(2) == 0).await?,
        5 => {
            let cell = format!("D{row}");
            player.play(Deed::new("select_cells", json!({ "range": cell }), Truth::Unjudged)).await?;
            let (text, wanted) = (format!("{row}5\n"), json!([[format!("{row}5")]]));
            player
                .play(Deed::new("type_text", json!({ "text": text }), Truth::Oracle(cells(&cell), wanted)))
                .await?;
        }
        6 => {
            player
                .play(Deed::new(
                    "read_table",
                    json!({ "range": "A1:B1" }),
                    Truth::Output("Region".to_owned()),
                ))
                .await?;
            let about = ["sheet.fods", "Save"];
            let truth = Truth::Oracle(json!({ "ask": "modified" }), json!(false));
            player
                .play(Deed::new("press_keys", json!({ "keys": "ctrl+s" }), truth).about(&about).blind())
                .await?;
        }
        _ => dialog(player, &["Format", "Cells…"], "Format Cells").await?,
    }
    Ok(())
}

/// What the toggle shows must be of the cells that were just selected.
async fn bold(player: &mut Player<'_>, row: u64, on: bool) -> Result<(), Failure> {
    let range = format!("A{row}:B{row}");
    let absolute = json!(format!("$Sheet1.$A${row}:$B${row}"));
    let truth = Truth::Oracle(json!({ "ask": "selected" }), absolute);
    player.play(Deed::new("select_cells", json!({ "range": range }), truth)).await?;
    let Some(id) = player.id("Bold").await? else { return Ok(()) };
    let arguments = json!({ "id": id, "name": "Bold", "checked": on });
    let truth = Truth::Oracle(json!({ "ask": "bold", "range": range }), json!(on));
    player.play(Deed::new("set_checked", arguments, truth)).await?;
    Ok(())
}

async fn dialog(player: &mut Player<'_>, path: &[&str], title: &str) -> Result<(), Failure> {
    let windows = json!({ "ask": "windows" });
    let truth = Truth::Contains(windows.clone(), title.to_owned());
    player.play(Deed::new("visit", json!({ "path": path }), truth).about(&[title])).await?;
    let deed = Deed::new("press_keys", json!({ "keys": "Escape" }), Truth::Unjudged).about(&[title]);
    player.play(deed).await?;
    Ok(())
}

/// One or a few actions on a text document.
pub(crate) async fn writer(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let text = json!({ "ask": "text" });
    match dice.below(6) {
        0 | 1 => {
            player
                .play(Deed::new("press_keys", json!({ "keys": "ctrl+End" }), Truth::Unjudged).blind())
                .await?;
            let word = format!(" Report{}", dice.below(100_000));
            player.play(Deed::new("type_text", json!({ "text": word }), Truth::Contains(text, word))).await?;
        }
        2 => {
            player
                .play(Deed::new("press_keys", json!({ "keys": "ctrl+End" }), Truth::Unjudged).blind())
                .await?;
            let before = player.stage.oracle.ask(&text).await?;
            let typed = " teh dash -- here ";
            player
                .play(Deed::new(
                    "type_text",
                    json!({ "text": typed }),
                    Truth::Contains(text.clone(), typed.to_owned()),
                ))
                .await?;
            let after = player.stage.oracle.ask(&text).await?;
            let (before, after) = (before.as_str().unwrap_or_default(), after.as_str().unwrap_or_default());
            if !after.starts_with(before.trim_end())
                || after.matches("dash").count() != before.matches("dash").count() + 1
            {
                player.damaged(&format!("{before:?} became {after:?}"));
            }
        }
        3 => dialog(player, &["Format", "Character…"], "Character").await?,
        4 => {
            let truth = Truth::Oracle(json!({ "ask": "modified" }), json!(false));
            let about = ["report.fodt", "Save"];
            player
                .play(Deed::new("press_keys", json!({ "keys": "ctrl+s" }), truth).about(&about).blind())
                .await?;
        }
        _ => {
            let Some(area) = player.stage.text_area().await? else { return Ok(()) };
            let arguments = json!({ "id": area.id.to_string() });
            player.play(Deed::new("read_text", arguments, Truth::Unjudged)).await?;
            player.play(Deed::new("summary", json!({}), Truth::Unjudged)).await?;
        }
    }
    Ok(())
}
