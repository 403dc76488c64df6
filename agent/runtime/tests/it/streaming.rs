//! Words of a model as they come.

use std::sync::{Arc, Mutex};

use deskhand_machine::{
    model::{ModelFailure, ModelReply, ModelRequest},
    record::JournalEntry,
};
use deskhand_model::{Model, ModelSign, ModelSigns, PictureSource};
use deskhand_runtime::{WaitReason, Waits, run};
use serde_json::json;

use crate::{hands::form, support::World};

/// A model that streams, and sees what is told of that.
struct Streams(Waits, Mutex<Vec<String>>);

impl Model for Streams {
    async fn ask(
        &self,
        _: &ModelRequest,
        _: &dyn PictureSource,
        signs: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let text =
            json!({"thought": "the key is Kanarie-7f3a", "status": "FINISH", "result": "done"}).to_string();
        for words in ["{\"thought\": \"the key", "the key is Kanarie-7f3a", &"ä".repeat(5_000)] {
            signs.sign(ModelSign::Receiving { bytes: words.len(), words: words.to_owned() });
            let waits = self.0.follow();
            let told = waits.borrow().clone().unwrap();
            let WaitReason::Reply { words, .. } = told.on else { panic!("{told:?}") };
            self.1.lock().unwrap().push(words);
        }
        Ok(ModelReply { text, attempts: 1, ..ModelReply::default() })
    }

    fn name(&self) -> &'static str {
        "streams"
    }
}

struct NoReader;

impl deskhand_secret::SecretReader for NoReader {
    fn read<'a>(&'a self, _: &'a str) -> deskhand_secret::ReadValue<'a> {
        Box::pin(async { Err("not read".to_owned()) })
    }
}

#[tokio::test]
async fn the_words_of_a_model_are_told_as_they_come_without_secrets() {
    let waits = Waits::default();
    let mut world = World::new(Streams(waits.clone(), Mutex::default()), Arc::new(form()));
    let veil = deskhand_secret::Veil::default();
    veil.add("key", &deskhand_secret::SecretValue::new("Kanarie-7f3a").unwrap());
    let tools = deskhand_runtime::Toolbox::standard(deskhand_desktop_act::ActLimits::default()).unwrap();
    world.tools = Arc::new(tools.with_secrets(deskhand_secret::Secrets::new(NoReader, veil)));
    let mut lines = Vec::new();
    let mut observer = |line: &JournalEntry| lines.push(line.clone());
    let options = deskhand_runtime::SessionRunOptions {
        waits: waits.clone(),
        ..world.options(vec!["fill it in".to_owned()])
    };
    run(options, &mut observer).await.unwrap();
    let told = world.model.1.lock().unwrap().clone();
    assert_eq!(told[..2], ["{\"thought\": \"the key", "the key is secret:key"]);
    assert_eq!(told[2], "ä".repeat(WaitReason::WORDS_CHARS_MAX));
}
