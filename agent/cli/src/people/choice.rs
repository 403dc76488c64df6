//! Chooses the user channel of a command.

use std::{
    convert::Infallible,
    io::{self, IsTerminal as _},
    path::Path,
    pin::Pin,
    sync::Arc,
};

use deskhand_host::{
    Control,
    config::{ChannelSetting, Config},
};
use deskhand_runtime::{
    StopSwitch,
    people::{
        AnyUserChannel, Console, ConsoleListener, Frontend, InputLines, JsonFrontend, Nobody, PauseSwitch,
        console,
    },
};

use super::{
    editor::{EditSwitch, EditedInput},
    terminal::{REQUEST_MARK, TerminalFrontend},
};
use crate::{
    exit::CliError,
    output::{Output, OutputStream},
};

/// Who answers questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answerer {
    /// A person at a terminal.
    Terminal,
    /// A program that speaks JSON lines.
    Json,
    /// Nobody.
    Nobody,
}

impl Answerer {
    /// A program with `--json`, else the terminal if there is one, unless the configuration disables asking.
    pub(crate) fn of(config: &Config, json: bool) -> Self {
        match (json, config.people.channel) {
            (_, ChannelSetting::None | ChannelSetting::Socket) => Self::Nobody,
            (true, ChannelSetting::Auto) => Self::Json,
            (false, ChannelSetting::Auto) if io::stdin().is_terminal() => Self::Terminal,
            (false, ChannelSetting::Auto) => Self::Nobody,
        }
    }

    /// Returns `true` if anybody can be asked.
    pub(crate) fn somebody(self) -> bool {
        self != Self::Nobody
    }

    /// Returns `true` if questions go to a terminal.
    pub(crate) fn at_terminal(self) -> bool {
        self == Self::Terminal
    }

    /// Opens the user channel. In a conversation, requests are edited, and those of earlier ones are found in the file `history`.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub(crate) fn open(
        self,
        stop: &StopSwitch,
        history: Option<&Path>,
    ) -> Result<(Control, Listening), CliError> {
        let pause = PauseSwitch::default();
        let input =
            || InputLines::of(io::stdin()).map_err(|error| CliError::failed_to("read standard input", error));
        let (user, listening): (Arc<dyn AnyUserChannel>, Listening) = match self {
            Self::Nobody => (Arc::new(Nobody), Box::pin(std::future::pending())),
            Self::Terminal => {
                let output = terminal_output();
                let edited = history.filter(|_| output.is_terminal()).map(edited).transpose()?;
                let (lines, editor) = match edited {
                    Some((lines, editor)) => (lines, Some(editor)),
                    None => (input()?, None),
                };
                let frontend = TerminalFrontend::new(output, editor);
                boxed(console(lines, frontend, stop.clone(), pause.clone()))
            }
            Self::Json => {
                let output = Output::to(OutputStream::Out);
                let frontend = JsonFrontend::new(Box::new(move |line| output.json(line)));
                boxed(console(input()?, frontend, stop.clone(), pause.clone()))
            }
        };
        Ok((Control { user, pause, stop: stop.clone(), ..Control::unattended() }, listening))
    }
}

/// The lines of a terminal whose requests are edited.
fn edited(history: &Path) -> Result<(InputLines, EditSwitch), CliError> {
    let open = || {
        let (input, editor) = EditedInput::open(REQUEST_MARK, history.to_owned())?;
        Ok((InputLines::of(input)?, editor))
    };
    open().map_err(|error: io::Error| CliError::failed_to("read standard input", error))
}

fn boxed<F: Frontend + 'static>(
    (console, listener): (Console, ConsoleListener<F>),
) -> (Arc<dyn AnyUserChannel>, Listening) {
    let listening = async {
        listener.listen().await;
        std::future::pending().await
    };
    (Arc::new(console), Box::pin(listening))
}

/// Returns the output for prompts: standard output if it is a terminal, else standard error.
fn terminal_output() -> Output {
    Output::to(if io::stdout().is_terminal() { OutputStream::Out } else { OutputStream::Error })
}

/// Reads the input of the user. Must run beside the session; never ends.
pub(crate) type Listening = Pin<Box<dyn Future<Output = Infallible> + Send>>;
