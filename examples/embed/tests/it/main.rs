//! The example on the desktop in memory.
#![cfg(test)]

use std::collections::BTreeMap;

use deskhand_desktop_fake::office;
use deskhand_example_embed::carry_out;
use deskhand_machine::{outcome::OutcomeKind, prompt::PromptSet};
use deskhand_model::Script;
use deskhand_runtime::replay;

const TURNS: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"thought": "Writer has it", "status": "ASSIGN", "control_label": "{{window "LibreOffice Writer"}}",
 "current_subtask": "read the table", "next": []}
'''

[[turn]]
agent = "AppAgent"
reply = '''
{"thought": "one call reads it", "status": "FINISH", "result": "the best region is in the table",
 "action": [{"function": "read_table", "arguments": {"name": "Sales"}, "expect": "Region"}]}
'''
"#;

#[tokio::test]
async fn a_request_is_carried_out_and_can_be_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let model = Script::parse("read.toml", TURNS, BTreeMap::new()).unwrap();
    let end = carry_out("Read the sales table", &office(), &model, folder.path()).await.unwrap();
    let outcome = end.outcome.unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
    let journal = end.folder.read().unwrap();
    let prompts: PromptSet = end.folder.prompts(&journal.header.prompts_sha256).unwrap();
    assert_eq!(replay(&journal, prompts).difference, None);
}
