//! What a person may type, and what becomes of it.

use deskhand_machine::{
    agent::AgentRef,
    command::ToolCommand,
    intent::JudgementBasis,
    reply::UserQuestion,
    session::{ApprovalScope, AskedBy, PlannedAction},
};
use deskhand_runtime::people::{
    ApprovalReply, ApprovalRequest, Frontend as _, InputLine, QuestionRequest, UserInput, UserPrompt,
    UserRequest,
};
use deskhand_testkit::forgeries;
use deskhand_ui::ids::EffectId;

use super::{TerminalFrontend, approval_lines, question_lines, question_mark};
use crate::output::{Output, OutputStream, OutputTone, StyledLine};

fn frontend() -> TerminalFrontend {
    TerminalFrontend::new(Output::to(OutputStream::Error), None)
}

fn parse(frontend: &mut TerminalFrontend, text: &str, open: Option<&UserPrompt>) -> UserInput {
    frontend.parse(&InputLine::Text(text.to_owned()), open)
}

fn approval() -> UserPrompt {
    UserPrompt::Approval(ApprovalRequest {
        id: EffectId(4),
        agent: AgentRef::from_name("AppAgent/mousepad"),
        actions: vec![PlannedAction {
            command: ToolCommand {
                tool: "click_element".to_owned(),
                arguments: serde_json::Map::new(),
                ..ToolCommand::default()
            },
            target: Some("push button \"Save\"".to_owned()),
            application: Some("Mousepad".to_owned()),
        }],
        reason: "it overwrites the file".to_owned(),
        asked_by: AskedBy::Model,
        covers: Vec::new(),
        timeout: None,
    })
}

#[test]
fn an_approval_takes_a_clear_word_or_an_instruction_and_nothing_else() {
    let prompt = approval();
    let mut frontend = frontend();
    let mut check = |text: &str, expected: UserInput| {
        assert_eq!(parse(&mut frontend, text, Some(&prompt)), expected, "{text}");
    };
    let approved = |scope| UserInput::Decided(ApprovalReply::Approved(scope));
    let rejected = |instruction: Option<&str>| {
        UserInput::Decided(ApprovalReply::Rejected(instruction.map(str::to_owned)))
    };
    for yes in ["y", "Yes", " yes "] {
        check(yes, approved(ApprovalScope::Once));
    }
    check("a", approved(ApprovalScope::Session));
    check("n", rejected(None));
    check("save it as copy.txt", rejected(Some("save it as copy.txt")));
    check("换一个文件名", rejected(Some("换一个文件名")));
    check("s", UserInput::Stop { now: false });
    // Neither Enter nor a slip of the hand approves or rejects anything.
    for slip in ["", "ye", "p", "ok"] {
        check(slip, UserInput::Handled);
    }
}

#[test]
fn questions_take_text_numbers_of_choices_and_defaults() {
    let question = |text: &str, required, default: Option<&str>, choices: &[&str]| UserQuestion {
        text: text.to_owned(),
        required,
        default: default.map(str::to_owned),
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
    };
    let prompt = UserPrompt::Questions(QuestionRequest {
        id: EffectId(7),
        questions: vec![
            question("Which format?", false, None, &["PNG", "PDF"]),
            question("Which name?", true, None, &[]),
            question("How large?", false, Some("A4"), &[]),
            question("Anything else?", false, None, &[]),
        ],
        timeout: None,
    });
    let mut frontend = frontend();
    frontend.show(&prompt);
    for text in ["gif", "3", "2", "", "letter", ""] {
        assert_eq!(parse(&mut frontend, text, Some(&prompt)), UserInput::Handled, "{text}");
    }
    let answers = ["PDF", "letter", "A4", ""].map(str::to_owned).to_vec();
    assert_eq!(parse(&mut frontend, "", Some(&prompt)), UserInput::Answered(answers));
}

#[test]
fn a_request_is_taken_as_typed_and_n_ends() {
    let mut frontend = frontend();
    let mut check = |text: &str, expected: UserInput| {
        assert_eq!(parse(&mut frontend, text, Some(&UserPrompt::Request)), expected, "{text}");
    };
    check("write a letter", UserInput::Request(UserRequest::from("write a letter")));
    check("N", UserInput::End);
    check("quit", UserInput::End);
    check("", UserInput::Handled);
}

#[test]
fn while_it_works_words_go_to_the_session() {
    let mut frontend = frontend();
    let mut check = |text: &str, expected: UserInput| {
        assert_eq!(parse(&mut frontend, text, None), expected, "{text}");
    };
    check("p", UserInput::Pause);
    check("resume", UserInput::Resume);
    check("stop", UserInput::Stop { now: false });
    let said = |text: &str| UserInput::Said(text.to_owned());
    check("use the second sheet", said("use the second sheet"));
    check("say PNG", said("PNG"));
    check("先别保存", said("先别保存"));
    check(&"word ".repeat(1_000), UserInput::Handled);
    check("t", UserInput::TakeOver);
    check("h", UserInput::HandBack(None));
    check("Hand back", UserInput::HandBack(None));
    check("h the name was wrong", UserInput::HandBack(Some("the name was wrong".to_owned())));
    check("help", UserInput::Handled);
    // What was typed before the prompt was shown approves nothing.
    check("y", UserInput::Handled);
    check("", UserInput::Handled);
}

/// An approval and a question whose every text is this one.
fn shown(text: &str) -> Vec<StyledLine> {
    let arguments = serde_json::json!({"path": text, "name": text});
    let action = PlannedAction {
        command: ToolCommand {
            tool: "click_element".to_owned(),
            arguments: arguments.as_object().unwrap().clone(),
            ..ToolCommand::default()
        },
        target: Some(text.to_owned()),
        application: Some(text.to_owned()),
    };
    let asked = |asked_by| ApprovalRequest {
        id: EffectId(4),
        agent: AgentRef::from_name(&format!("AppAgent/{text}")),
        actions: vec![action.clone(), action.clone()],
        reason: text.to_owned(),
        asked_by,
        covers: vec![text.to_owned()],
        timeout: None,
    };
    let question = UserQuestion {
        text: text.to_owned(),
        required: true,
        default: Some(text.to_owned()),
        choices: vec![text.to_owned(), text.to_owned()],
    };
    let mut lines = approval_lines(&asked(AskedBy::Model));
    lines.extend(approval_lines(&asked(AskedBy::Policy { rule: format!("rule {text}") })));
    lines.extend(question_lines(&question, (0, 2)));
    lines.push(StyledLine::of(OutputTone::Strong, question_mark(&question)));
    lines
}

#[test]
fn no_forgery_draws_or_answers_a_prompt() {
    let honest = shown("honest").len();
    for (what, text) in forgeries::all() {
        let lines = shown(&text);
        assert_eq!(lines.len(), honest, "{what}");
        for line in &lines {
            let line = line.to_string();
            assert_eq!(forgeries::hidden_in(&line), None, "{what}: {line:?}");
            assert_eq!(line.lines().count(), 1, "{what}: {line:?}");
        }
    }
}

#[test]
fn an_approval_shows_the_whole_action_and_what_always_covers() {
    let script = format!("rm -rf {} # to the last letter", "x".repeat(300));
    let arguments = serde_json::json!({"program": "sh", "arguments": ["-c", script], "folder": "work"});
    let command = ToolCommand {
        tool: "run_command".to_owned(),
        arguments: arguments.as_object().unwrap().clone(),
        judged: Some(Box::new(JudgementBasis {
            window: "Notes".to_owned(),
            document: Some("/home/ada/notes.txt".to_owned()),
            ..JudgementBasis::default()
        })),
        ..ToolCommand::default()
    };
    let asked = ApprovalRequest {
        id: EffectId(4),
        agent: AgentRef::from_name("shell"),
        actions: vec![PlannedAction { command, target: None, application: None }],
        reason: String::new(),
        asked_by: AskedBy::Model,
        covers: vec!["run_command on {\"program\":\"sh\"}".to_owned()],
        timeout: None,
    };
    let lines: Vec<String> = approval_lines(&asked).iter().map(ToString::to_string).collect();
    let shown = lines.join("\n");
    for expected in [
        format!("runs: sh -c '{script}'"),
        "folder: \"work\"".to_owned(),
        "window: Notes".to_owned(),
        "document: /home/ada/notes.txt".to_owned(),
        "a approves for this session: run_command on {\"program\":\"sh\"}".to_owned(),
    ] {
        assert!(shown.contains(&expected), "{expected} in\n{shown}");
    }
}
