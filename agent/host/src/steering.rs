//! Everything through which a session, a desktop or this program can be steered from outside of the process, and who may do so.
//!
//! `SECURITY.md` has this list as a table, and a test looks for all sockets, ports, files, bus names and variables of a running session:
//! one that is not listed here fails it. Whoever adds a way to steer adds it here first.

use std::fmt::Write as _;

/// The kind of a way to steer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteeringKind {
    /// A Unix socket with a path.
    Socket,
    /// A TCP port on the loopback address.
    Port,
    /// A file, or all files of a folder.
    File,
    /// A variable of the environment.
    Variable,
    /// A property or message of the X server of a desktop.
    Property,
    /// A signal, a standard stream or a file descriptor that is handed over by inheritance.
    Inherited,
}

impl SteeringKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Port => "port",
            Self::File => "file",
            Self::Variable => "variable",
            Self::Property => "X11 property",
            Self::Inherited => "inherited",
        }
    }
}

/// One way to steer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SteeringPoint {
    /// Its kind.
    pub kind: SteeringKind,
    /// Location of the steering point. `STATE` stands for the folder of sessions, `CONFIG` for that of the
    /// configuration, `DATA` for that of workflows and knowledge, `DESKTOP` for the private folder of a desktop; `*`
    /// for any name.
    pub place: &'static str,
    /// Target that it steers.
    pub steers: &'static str,
    /// Who may use it.
    pub peer: &'static str,
    /// Proof of the peer's permission.
    pub proof: &'static str,
}

const OWN_PROCESS: &str = "user id, and a peer without `no_new_privs` by its process handle (`SO_PEERPIDFD`)";
const NOT_MOUNTED: &str =
    "does not exist for applications (bubblewrap); mode 0600 or 0700; no link is followed";
const MOUNTED_READ_ONLY: &str = "applications cannot change it (bubblewrap)";

const fn socket(place: &'static str, steers: &'static str, peer: &'static str) -> SteeringPoint {
    SteeringPoint { kind: SteeringKind::Socket, place, steers, peer, proof: OWN_PROCESS }
}

const fn file(place: &'static str, steers: &'static str, peer: &'static str) -> SteeringPoint {
    SteeringPoint { kind: SteeringKind::File, place, steers, peer, proof: NOT_MOUNTED }
}

const fn port(
    place: &'static str,
    steers: &'static str,
    peer: &'static str,
    proof: &'static str,
) -> SteeringPoint {
    SteeringPoint { kind: SteeringKind::Port, place, steers, peer, proof }
}

const fn variable(place: &'static str, steers: &'static str) -> SteeringPoint {
    let (peer, proof) = ("who starts the program", "applications get a list of variables without it");
    SteeringPoint { kind: SteeringKind::Variable, place, steers, peer, proof }
}

const fn inherited(
    place: &'static str,
    steers: &'static str,
    peer: &'static str,
    proof: &'static str,
) -> SteeringPoint {
    SteeringPoint { kind: SteeringKind::Inherited, place, steers, peer, proof }
}

/// All ways to steer.
pub const STEERING_POINTS: &[SteeringPoint] = &[
    socket(
        "STATE/sessions/*/control.sock",
        "watches, approves, answers, says, takes over, pauses and stops a session",
        "the page, commands and programs of the user",
    ),
    socket("STATE/serve/*/control.sock", "the same, for the copy of a session of a fleet", "the page"),
    socket(
        "DESKTOP/own/keeper.sock",
        "keeps or ends a virtual desktop",
        "the session that owns it, and the one that resumes it",
    ),
    socket(
        "DESKTOP/own/*-pages.sock",
        "reads the pages of a browser, answers its dialogs, opens addresses",
        "the session, and commands of the user",
    ),
    port(
        "`deskhand serve --port`",
        "starts, steers and shows sessions",
        "browsers and programs with the token",
        "token or cookie; `Host` and `Origin` are checked",
    ),
    port(
        "`deskhand mcp --http`",
        "starts and steers desktops",
        "MCP clients with the token",
        "token; `Host` and `Origin` are checked",
    ),
    port(
        "a question of `deskhand mcp`",
        "approves or answers one question, for a client that opens addresses and shows no forms",
        "who has the address: the client, and the browser of its user",
        "a random path, for one answer; `Host` and `Origin` are checked",
    ),
    port("`deskhand worker --metrics`", "shows figures; steers nothing", "who has the token", "token"),
    port(
        "`deskhand desktop attach`",
        "shows and operates a virtual desktop (VNC)",
        "a viewer with the password",
        "a new password each time; ends with the command",
    ),
    port(
        "a local model server",
        "replies for a model",
        "the session",
        "a key in a private file; loopback alone",
    ),
    file("CONFIG/", "configuration, policy, keys", "the user"),
    file(
        "STATE/sessions/",
        "journals, prompts, pictures, and `desktop.json` with the address of a kept desktop",
        "the session; commands of the user",
    ),
    file(
        "STATE/seals/",
        "the key that seals journals, and their anchors",
        "the session; commands of the user",
    ),
    file(
        "STATE/serve/",
        "the token and address of the page, answers of repeated requests, plans, tasks, logs",
        "`deskhand serve`",
    ),
    file("STATE/schedules/", "what begins at set times", "`deskhand schedule`"),
    file("STATE/batches/", "which tasks of a batch are done", "`deskhand batch`"),
    file("STATE/history", "lines that were typed in conversations", "`deskhand run`"),
    file("DATA/workflows/", "tasks that are done without a model", "`deskhand do` and agents"),
    file("DATA/knowledge/", "what agents look up", "agents"),
    file("DATA/local/", "models of this machine and the programs that run them", "`deskhand model`"),
    file("DATA/programs/", "programs of Deskhand that are installed separately", "all that Deskhand runs"),
    file(
        "DESKTOP/own/",
        "which processes and files the guard of a desktop removes, its lock, messages of programs, the name of the pipe of LibreOffice",
        "the session, the keeper, the guard",
    ),
    SteeringPoint {
        kind: SteeringKind::File,
        place: "the program `deskhand`",
        steers: "everything",
        peer: "who installs it",
        proof: MOUNTED_READ_ONLY,
    },
    SteeringPoint {
        kind: SteeringKind::File,
        place: "programs on `PATH` that confine and start others (`bwrap`, `Xvfb`, `openbox`, `dbus-daemon`, `setpriv`, `setsid`, `sh`, `x11vnc`)",
        steers: "how applications are confined",
        peer: "who installs them",
        proof: "not taken from places that applications can write to",
    },
    SteeringPoint {
        kind: SteeringKind::File,
        place: "STATE/documents/",
        steers: "nothing: documents that were dropped into the page",
        peer: "the page; applications",
        proof: "a mount of its own; new folders and files only, and no link is followed",
    },
    variable("DESKHAND__*", "settings"),
    variable("DESKHAND_CONFIG", "which file has the configuration"),
    variable("DESKHAND_FLEET*", "which fleet is used, and with which credentials and keys"),
    variable("DESKHAND_LOG", "what is logged"),
    variable("DESKHAND_PROGRAMS", "which programs of Deskhand are started, such as `deskhand-local`"),
    variable("DESKHAND_PAGER", "which program shows long output"),
    variable("DESKHAND_LOCAL_MODEL", "marks a model server, to end it"),
    variable("DESKHAND_AGENT_PROCESS", "marks a program of an agent, to end it"),
    SteeringPoint {
        kind: SteeringKind::Variable,
        place: "DESKHAND_DESKTOP",
        steers: "marks a program of a desktop, to end it; a program without it is found by its parent",
        peer: "programs of the desktop",
        proof: "ends the program that has it, and nothing else",
    },
    variable(
        "XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_DATA_HOME, HOME, PATH, TMPDIR",
        "where all of the above is",
    ),
    SteeringPoint {
        kind: SteeringKind::Property,
        place: "DESKHAND_FENCE, DESKHAND_QUIT",
        steers: "when the reader of X events takes events for handled, and when it ends",
        peer: "the session",
        proof: "a random number in the message that only the process knows",
    },
    SteeringPoint {
        kind: SteeringKind::Property,
        place: "DESKHAND_WINDOW_ID",
        steers: "which id a window has for a session that is resumed",
        peer: "clients of the display, applications included",
        proof: "none: each action is judged on the live window, its process and element",
    },
    SteeringPoint {
        kind: SteeringKind::Property,
        place: "DESKHAND_CLIPBOARD",
        steers: "what is read from the clipboard",
        peer: "clients of the display, applications included",
        proof: "none: the text is text from outside",
    },
    inherited(
        "standard input and output",
        "approves, answers, says, takes over, pauses and stops a session",
        "who starts the session",
        "inheritance; applications get `/dev/null`",
    ),
    inherited(
        "standard input and output of `deskhand mcp`",
        "starts and steers desktops",
        "the MCP client that starts it",
        "inheritance",
    ),
    inherited(
        "a socket pair to the keeper",
        "keeps or ends a virtual desktop",
        "the session that starts the keeper",
        "inheritance",
    ),
    inherited(
        "file descriptors 3 and 4 of Chromium",
        "the debugging protocol of a browser",
        "the holder of the browser",
        "inheritance",
    ),
    inherited(
        "SIGINT, SIGTERM, SIGHUP, SIGKILL",
        "stop a session, the page or a worker",
        "every process of the user, applications included",
        "none: it can only stop",
    ),
];

/// The table of [`STEERING_POINTS`] as Markdown.
pub fn steering_table() -> String {
    let mut text = String::from(
        "| what | where | steers | who may | what proves it |\n| --- | --- | --- | --- | --- |\n",
    );
    for point in STEERING_POINTS {
        let SteeringPoint { kind, place, steers, peer, proof } = point;
        let place = if place.contains([' ', '`']) { (*place).to_owned() } else { format!("`{place}`") };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {place} | {steers} | {peer} | {proof} |", kind.word());
    }
    text
}
