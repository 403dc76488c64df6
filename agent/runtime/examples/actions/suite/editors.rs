//! Actions on editors of plain text; the file on disk tells what happened.

use serde_json::json;

use super::{
    Dice, Failure,
    judge::{Deed, Player, Truth},
    stage::TEXT,
};

/// One or a few actions that belong together. Each begins with a text that the oracle has confirmed.
pub(crate) async fn turn(player: &mut Player<'_>, dice: &mut Dice) -> Result<(), Failure> {
    let Some(area) = player.stage.text_area().await? else {
        player.skipped.push(format!("{}: no text to edit", player.application));
        return Ok(());
    };
    let id = area.id.to_string();
    let text = format!("Report {} of {}", dice.below(1000), dice.pick(&["Ada", "Grüße", "teh dash -- here"]));
    match dice.below(8) {
        0 => {
            let arguments = json!({ "id": id, "text": text, "clear": true });
            player.play(Deed::new("type_text", arguments, Truth::File(text))).await?;
        }
        1 => {
            let arguments = json!({ "id": id, "value": text });
            player.play(Deed::new("set_value", arguments, Truth::File(text))).await?;
        }
        2 => {
            let arguments = json!({ "id": id, "text": text });
            player.play(Deed::new("paste_text", arguments, Truth::File(text))).await?;
        }
        3 => replaced(player, &id, dice).await?,
        4 => typed_over(player, &id, &text).await?,
        5 => saved(player, &id, &text).await?,
        6 => windows(player).await?,
        _ => {
            player
                .play(Deed::new(
                    "write_clipboard",
                    json!({ "text": text }),
                    Truth::Oracle(json!({ "ask": "clipboard" }), json!(text)),
                ))
                .await?;
            player.play(Deed::new("read_text", json!({ "id": id }), Truth::Unjudged)).await?;
        }
    }
    Ok(())
}

/// Puts a known text there.
async fn put(player: &mut Player<'_>, id: &str, text: &str) -> Result<(), Failure> {
    let arguments = json!({ "id": id, "text": text, "clear": true });
    player.play(Deed::new("type_text", arguments, Truth::File(text.to_owned()))).await?;
    Ok(())
}

/// A selected word is replaced by what is typed next.
async fn replaced(player: &mut Player<'_>, id: &str, dice: &mut Dice) -> Result<(), Failure> {
    let text = TEXT.trim_end();
    put(player, id, text).await?;
    let word = dice.pick(&["Alpha", "beta", "gamma"]);
    player.play(Deed::new("select_text", json!({ "id": id, "text": word }), Truth::Unjudged)).await?;
    let wanted = text.replace(word, "228");
    player.play(Deed::new("type_text", json!({ "text": "228" }), Truth::File(wanted))).await?;
    Ok(())
}

/// Everything is selected and typed over.
async fn typed_over(player: &mut Player<'_>, id: &str, text: &str) -> Result<(), Failure> {
    player.play(Deed::new("focus_element", json!({ "id": id }), Truth::Unjudged)).await?;
    player.play(Deed::new("press_keys", json!({ "keys": "ctrl+a" }), Truth::Unjudged).blind()).await?;
    player.play(Deed::new("type_text", json!({ "text": text }), Truth::File(text.to_owned()))).await?;
    Ok(())
}

/// The application saves by its own key.
async fn saved(player: &mut Player<'_>, id: &str, text: &str) -> Result<(), Failure> {
    let arguments = json!({ "id": id, "text": text, "clear": true });
    player.play(Deed::new("type_text", arguments, Truth::Unjudged)).await?;
    let deed = Deed::new("press_keys", json!({ "keys": "ctrl+s" }), Truth::Saved(text.to_owned()));
    player.play(deed.about(&["document.txt", "Save", "save"])).await?;
    Ok(())
}

/// The `HostAgent` opens another window and closes it again.
async fn windows(player: &mut Player<'_>) -> Result<(), Failure> {
    let file = player.stage.file.with_file_name("other.txt");
    std::fs::write(&file, TEXT)?;
    let windows = json!({ "ask": "windows" });
    let own = json!({ "id": player.stage.window.id.to_string() });
    if player.application == "mousepad" {
        let arguments = json!({ "name": "mousepad", "files": [file.display().to_string()] });
        let truth = Truth::Contains(windows, "other.txt".to_owned());
        let deed = Deed::new("launch_application", arguments, truth).host();
        let opened = player.play(deed.about(&["other.txt"])).await?.window;
        player.play(Deed::new("select_application_window", own, Truth::Unjudged).host()).await?;
        if opened.as_ref().is_some_and(|opened| opened.id == player.stage.window.id) {
            // It opened the file in a tab.
            let deed = Deed::new("press_keys", json!({ "keys": "ctrl+w" }), Truth::Unjudged);
            player.play(deed.about(&["other.txt", "document.txt"])).await?;
        } else if let Some(window) = opened {
            let close = json!({ "id": window.id.to_string() });
            let deed = Deed::new("close_application", close, Truth::Unjudged).host();
            player.play(deed.about(&["other.txt"])).await?;
        }
    } else {
        player.play(Deed::new("select_application_window", own, Truth::Unjudged).host()).await?;
    }
    Ok(())
}
