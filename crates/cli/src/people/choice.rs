//! Which way to the user a command takes.

use std::{
    convert::Infallible,
    io::{self, IsTerminal as _},
    pin::Pin,
    time::Duration,
};

use deskhand_host::config::{ApprovalSetting, ChannelSetting, Config};
use deskhand_runtime::{
    StopSwitch,
    people::{
        Approvals, Console, Frontend, InputLines, JsonFrontend, Listener, Nobody, PauseSwitch, People,
        console,
    },
};

use super::terminal::TerminalFrontend;
use crate::{
    exit::CliError,
    output::{Output, Stream},
};

/// Who is asked, and how long a session waits for them; from flags and configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    channel: Channel,
    approvals: Approvals,
    question_timeout: Option<Duration>,
    approval_timeout: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    Terminal,
    Json,
    None,
}

impl Asked {
    /// What the configuration says. Unless it says otherwise, people are asked over `--json`, or on a terminal if there is
    /// one.
    pub(crate) fn of(config: &Config, json: bool) -> Self {
        let settings = &config.people;
        let channel = match (json, settings.channel) {
            (_, ChannelSetting::None) => Channel::None,
            (true, ChannelSetting::Auto) => Channel::Json,
            (false, ChannelSetting::Auto) if io::stdin().is_terminal() => Channel::Terminal,
            (false, ChannelSetting::Auto) => Channel::None,
        };
        let approvals = match settings.approvals {
            ApprovalSetting::Ask => Approvals::Ask,
            ApprovalSetting::All => Approvals::All,
            ApprovalSetting::None => Approvals::None,
        };
        let seconds = |seconds: Option<u64>| seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs);
        Self {
            channel,
            approvals,
            question_timeout: seconds(settings.question_timeout_s),
            approval_timeout: seconds(settings.approval_timeout_s),
        }
    }

    /// Nobody is asked: for work that several sessions do side by side.
    pub(crate) fn nobody(mut self) -> Self {
        self.channel = Channel::None;
        self
    }

    /// Whether there is anybody to ask.
    pub(crate) fn somebody(&self) -> bool {
        self.channel != Channel::None
    }

    /// Whether a person sits at a terminal.
    pub(crate) fn at_terminal(&self) -> bool {
        self.channel == Channel::Terminal
    }

    /// Opens the way to the user. `converse`: whether further requests come over it.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub(crate) fn open(&self, converse: bool, stop: &StopSwitch) -> Result<(UserSide, Listening), CliError> {
        let pause = PauseSwitch::default();
        let input =
            || InputLines::of(io::stdin()).map_err(|error| CliError::failed_to("read standard input", error));
        let (console, listening) = match self.channel {
            Channel::None => (None, Box::pin(std::future::pending()) as Listening),
            Channel::Terminal => {
                let frontend = TerminalFrontend::new(terminal_output());
                boxed(console(input()?, frontend, stop.clone(), pause.clone()))
            }
            Channel::Json => {
                let output = Output::to(Stream::Out);
                let frontend = JsonFrontend::new(Box::new(move |line| output.json(line)));
                boxed(console(input()?, frontend, stop.clone(), pause.clone()))
            }
        };
        Ok((UserSide { asked: self.clone(), converse, console, pause }, listening))
    }
}

fn boxed<F: Frontend + 'static>((console, listener): (Console, Listener<F>)) -> (Option<Console>, Listening) {
    let listening = async {
        listener.listen().await;
        std::future::pending().await
    };
    (Some(console), Box::pin(listening))
}

/// Where prompts are shown: on standard output, unless that goes elsewhere.
fn terminal_output() -> Output {
    Output::to(if io::stdout().is_terminal() { Stream::Out } else { Stream::Error })
}

/// What listens to the user. It must run beside the session, and never ends.
pub(crate) type Listening = Pin<Box<dyn Future<Output = Infallible> + Send>>;

/// The way to the user of one session.
pub(crate) struct UserSide {
    asked: Asked,
    converse: bool,
    console: Option<Console>,
    pause: PauseSwitch,
}

impl UserSide {
    /// The people, as a session is given them.
    pub(crate) fn people(&self) -> People<'_> {
        People {
            channel: match &self.console {
                Some(console) => console,
                None => &Nobody,
            },
            converse: self.converse,
            approvals: self.asked.approvals,
            question_timeout: self.asked.question_timeout,
            approval_timeout: self.asked.approval_timeout,
            pause: self.pause.clone(),
        }
    }
}
