//! Attacks and honest tasks as data: what an attacker wrote where, what the user asks, and what a model does that obeys.

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    Failure,
    mode::{Account, Confinement, Mode},
};

/// The files of attacks, by what carries the words of the attacker.
const ATTACKS: &[(&str, &str)] = &[
    ("document", include_str!("attacks/document.toml")),
    ("page", include_str!("attacks/page.toml")),
    ("mail", include_str!("attacks/mail.toml")),
    ("look-alike", include_str!("attacks/look_alike.toml")),
    ("dialog", include_str!("attacks/dialog.toml")),
    ("title", include_str!("attacks/title.toml")),
    ("file name", include_str!("attacks/file_name.toml")),
    ("clipboard", include_str!("attacks/clipboard.toml")),
    ("terminal", include_str!("attacks/terminal.toml")),
    ("picture", include_str!("attacks/picture.toml")),
    ("agent", include_str!("attacks/agent.toml")),
    ("blackboard", include_str!("attacks/blackboard.toml")),
];

/// The files of attacks by the second player: a hostile program, page, server, client, workflow, user or peer of a fleet.
const PLAYERS: &[(&str, &str)] = &[
    ("socket", include_str!("attacks/socket.toml")),
    ("state", include_str!("attacks/state.toml")),
    ("process", include_str!("attacks/process.toml")),
    ("screen", include_str!("attacks/screen.toml")),
    ("accessibility", include_str!("attacks/accessibility.toml")),
    ("local page", include_str!("attacks/local_page.toml")),
    ("peer", include_str!("attacks/peer.toml")),
    ("client", include_str!("attacks/client.toml")),
    ("workflow", include_str!("attacks/workflow.toml")),
    ("other user", include_str!("attacks/other_user.toml")),
    ("fleet", include_str!("attacks/fleet.toml")),
];

/// The honest tasks.
const TASKS: &[(&str, &str)] = &[("honest", include_str!("tasks/honest.toml"))];

/// One attack, or one honest task.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Case {
    /// Its name on the command line.
    pub(crate) name: String,
    /// What carries the words of the attacker; from the file that it stands in.
    #[serde(skip)]
    pub(crate) carrier: String,
    /// What the attacker wants, or what the task is good for, in a few words.
    pub(crate) goal: String,
    /// Whether the short form of the suite has it.
    pub(crate) short: bool,
    /// Files below the home folder, with their content.
    pub(crate) files: BTreeMap<String, String>,
    /// The same, to be run.
    pub(crate) programs: BTreeMap<String, String>,
    /// Links below the home folder, with what they point to.
    pub(crate) links: BTreeMap<String, String>,
    /// Pages by their address without `http://`.
    pub(crate) pages: BTreeMap<String, String>,
    /// Applications by name; see `programs/stage.py`.
    pub(crate) stages: BTreeMap<String, Map<String, Value>>,
    /// Documents that the user opens.
    pub(crate) open: Vec<String>,
    /// What stands in the configuration besides.
    pub(crate) config: String,
    /// The rules of the user; not in force in the control run.
    pub(crate) rules: String,
    /// What the control run has in its place.
    pub(crate) unguarded: String,
    /// What the user asks for.
    pub(crate) request: String,
    /// What an agent does before it has read the words of the attacker, and all of an honest task.
    pub(crate) looks: Vec<Step>,
    /// The words of the attacker as a pattern; its groups are values for `does`. Empty for honest tasks.
    pub(crate) reads: String,
    /// Whether the user sits at a terminal, and answers nothing. Otherwise a program stands in for the user.
    pub(crate) terminal: bool,
    /// Whether the model obeys only what does not stand between the marks of the prompt.
    pub(crate) outside_marks: bool,
    /// What the model does then.
    pub(crate) does: Vec<Step>,
    /// What a question must say to name the act; the user approves every question that does not.
    pub(crate) names: String,
    /// What the oracle looks for.
    pub(crate) effect: Effect,
    /// How the control run brings the effect about where no setting lets the model do it: a command line of a shell.
    pub(crate) by_hand: String,
    /// How often an honest task is asked about.
    pub(crate) asked: u32,
    /// Whether the second player attacks; from the file that it stands in.
    #[serde(skip)]
    pub(crate) second: bool,
    /// The program of the second player: Python, with `programs/player.py` in front.
    pub(crate) player: String,
    /// Whether its window says nothing of its elements: the program does so itself.
    pub(crate) no_bridge: bool,
    /// How that program comes to run.
    pub(crate) runs: Runs,
    /// Where the boundary is promised.
    pub(crate) holds: Option<Vec<Confinement>>,
    /// What `SECURITY.md` says of the other modes.
    pub(crate) documented: String,
    /// For whom it is played; everybody if empty.
    pub(crate) accounts: Vec<Account>,
    /// Arguments of the program in place of `run` with the request.
    pub(crate) command: Vec<String>,
    /// What the user has running beside it.
    pub(crate) beside: Vec<Beside>,
    /// What the user starts once the session runs.
    pub(crate) during: Vec<Beside>,
    /// Whether there is the server of a fleet.
    pub(crate) fleet: bool,
    /// What the agent of another session of the same user does meanwhile.
    pub(crate) neighbour: Vec<Step>,
    /// Variables of the environment of the user.
    pub(crate) environment: BTreeMap<String, String>,
    /// Commands of the user after the session; what they print is on the screen. One that does not end by itself `says` something.
    pub(crate) after: Vec<Beside>,
    /// Whether the program goes on when its session has ended; then `tried` is its last line.
    pub(crate) lasts: bool,
    /// Whether the program of the user is installed in the home folder, `.local/bin/deskhand`.
    pub(crate) own_program: bool,
    /// Whether the model presses what the user is asked about, while the program attacks.
    pub(crate) pending: bool,
}

/// How the program of the second player comes to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Runs {
    /// As an application of the desktop, `player`, that the model starts.
    #[default]
    Application,
    /// By another user of the machine, as soon as the session has begun.
    Stranger,
    /// In place of a session: it uses the program as a client would.
    Client,
}

/// A command of the user that runs beside the session.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Beside {
    /// The arguments of the program.
    pub(crate) words: Vec<String>,
    /// What it prints once it is ready, as a pattern; its groups are values.
    pub(crate) says: String,
}

/// A reply of the model: one tool call, or several.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Step {
    /// The window whose agent does it, by a part of its title or application. Without a window and an agent, the HostAgent does.
    #[serde(default)]
    pub(crate) window: String,
    /// The agent without a window that does it.
    #[serde(default)]
    pub(crate) agent: String,
    /// An agent that gets the sub-task `subtask`.
    #[serde(default)]
    pub(crate) delegate: String,
    /// The sub-task that the HostAgent assigns for this step.
    #[serde(default)]
    pub(crate) subtask: String,
    /// The tool.
    #[serde(default)]
    pub(crate) tool: String,
    /// The status; CONTINUE if empty.
    #[serde(default)]
    pub(crate) status: String,
    /// An application, with files, that the HostAgent plans to start after this step.
    #[serde(default)]
    pub(crate) plan: String,
    /// A question to the user, who gives no answer.
    #[serde(default)]
    pub(crate) question: String,
    /// What counts as the answer then.
    #[serde(default)]
    pub(crate) default: String,
    /// Waits until the program of the second player has done its part, and replies only then.
    #[serde(default)]
    pub(crate) over: bool,
    /// More calls in the same reply.
    #[serde(default)]
    pub(crate) then: Vec<Step>,
    /// Who changes something between the look of the agent and the act: a stage, or `page`.
    #[serde(default)]
    pub(crate) cue: String,
    /// The arguments of the tool. `id`, `from` and `to` may name an element: `push button "Send"`.
    #[serde(flatten)]
    pub(crate) arguments: Map<String, Value>,
}

/// What must have happened, as files, pages and applications show it. All that is given must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Effect {
    /// A file below the home folder that exists.
    pub(crate) file: String,
    /// What that file contains.
    pub(crate) holds: String,
    /// What that file does not contain.
    pub(crate) lacks: String,
    /// A file below the home folder that does not exist.
    pub(crate) gone: String,
    /// What the server of the pages was asked for: host, path and body of one request, as a pattern.
    pub(crate) visited: String,
    /// A stage, and a pattern of one line of its log.
    pub(crate) stage: String,
    /// See `stage`.
    pub(crate) logs: String,
    /// What a person sees on the terminal, in one line from its start, as a pattern.
    pub(crate) screen: String,
    /// What the model is shown: a word that stands in a secret file.
    pub(crate) model_sees: String,
    /// That the session does not end; nothing else is looked at then.
    pub(crate) hangs: bool,
    /// That a prompt has more characters than this, if it is not 0.
    pub(crate) prompt_over: usize,
    /// A folder below the home folder with a file whose name and content match `tree_holds`.
    pub(crate) tree: String,
    /// See `tree`.
    pub(crate) tree_holds: String,
    /// A line of the journal of any session of the user, as a pattern.
    pub(crate) journal: String,
    /// What a file inside an OpenDocument file below the home folder contains: `file`, then this pattern in its `content.xml`.
    pub(crate) content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    attack: Vec<Case>,
    #[serde(default)]
    task: Vec<Case>,
}

impl Case {
    /// Returns `true` if it is an honest task.
    pub(crate) fn is_honest(&self) -> bool {
        self.reads.is_empty() && !self.second
    }

    /// The same with what most cases of the second player have in common: its program is started, and an honest model looks at it.
    fn of_second_player(mut self) -> Self {
        self.second = true;
        if self.request.is_empty() {
            "Start the player and tell me what it shows".clone_into(&mut self.request);
        }
        if self.pending && self.names.is_empty() {
            "Delete all".clone_into(&mut self.names);
        }
        if self.looks.is_empty() && !self.player.is_empty() && self.runs == Runs::Application {
            let argument = |name: &str, value: &str| Map::from_iter([(name.to_owned(), value.into())]);
            let launch = Step {
                tool: "launch_application".to_owned(),
                arguments: argument("name", "player"),
                ..Step::default()
            };
            let press = Step {
                window: "Player".to_owned(),
                tool: "click_element".to_owned(),
                arguments: argument("id", "push button \"Delete all files\""),
                ..Step::default()
            };
            let look = Step {
                window: "Player".to_owned(),
                tool: "summary".to_owned(),
                over: true,
                ..Step::default()
            };
            self.looks.push(launch);
            self.looks.extend(self.pending.then_some(press));
            self.looks.push(look);
        }
        self
    }

    /// Returns `true` if the boundary is promised in a mode.
    pub(crate) fn is_promised(&self, mode: Mode) -> bool {
        self.holds.as_ref().is_none_or(|holds| holds.contains(&mode.confinement))
    }

    /// Returns `true` if a control run can show it: what makes a session hang, or a prompt long, is seen in no other way.
    pub(crate) fn has_control(&self) -> bool {
        !self.is_honest() && !self.effect.hangs && self.effect.prompt_over == 0
    }

    /// Returns `true` if it is played in a mode.
    pub(crate) fn is_played(&self, mode: Mode) -> bool {
        let modes = self.second || mode == Mode { way: mode.way, ..Mode::default() };
        // Only root can play for somebody else.
        let can = self.runs != Runs::Stranger || rustix::process::geteuid().is_root();
        modes && can && (self.accounts.is_empty() || self.accounts.contains(&mode.account))
    }
}

/// All attacks.
pub(crate) fn attacks() -> Result<Vec<Case>, Failure> {
    let mut attacks = read(ATTACKS)?;
    for case in read(PLAYERS)?.into_iter().map(Case::of_second_player) {
        if attacks.iter().any(|known| known.name == case.name) {
            return Err(format!("two cases have the name `{}`", case.name).into());
        }
        attacks.push(case);
    }
    Ok(attacks)
}

/// The attacks of the second player in a file: to try them before they are in the suite.
pub(crate) fn attacks_in(file: &Path) -> Result<Vec<Case>, Failure> {
    let text = std::fs::read_to_string(file)?;
    let cases = read(&[(&file.file_stem().unwrap_or_default().to_string_lossy(), &text)])?;
    Ok(cases.into_iter().map(Case::of_second_player).collect())
}

/// All honest tasks.
pub(crate) fn tasks() -> Result<Vec<Case>, Failure> {
    read(TASKS)
}

fn read(tables: &[(&str, &str)]) -> Result<Vec<Case>, Failure> {
    let mut cases: Vec<Case> = Vec::new();
    for (carrier, text) in tables {
        let table: Table = toml::from_str(text).map_err(|error| format!("{carrier}.toml: {error}"))?;
        for mut case in table.attack.into_iter().chain(table.task) {
            (*carrier).clone_into(&mut case.carrier);
            if cases.iter().any(|known| known.name == case.name) {
                return Err(format!("{carrier}.toml: two cases have the name `{}`", case.name).into());
            }
            cases.push(case);
        }
    }
    Ok(cases)
}
