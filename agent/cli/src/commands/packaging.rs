//! `deskhand completions` and `deskhand man`: generated from the definition of the command line.

use std::{fs, io};

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{
    args::{CliArgs, CompletionsArgs, ManArgs},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream},
};

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> CommandResult {
    let shell = args.shell.or_else(Shell::from_env).ok_or_else(|| {
        CliError::usage("SHELL does not name a supported shell")
            .with_help("name the shell: bash, elvish, fish, powershell or zsh")
    })?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(), "deskhand", &mut script);
    Output::to(OutputStream::Out).text(String::from_utf8_lossy(&script).trim_end());
    Ok(Exit::Success)
}

/// Writes a man page for each command into a folder.
pub(crate) fn man(args: &ManArgs) -> CommandResult {
    let folder = &args.folder;
    let write = || -> io::Result<usize> {
        fs::create_dir_all(folder)?;
        clap_mangen::generate_to(visible(), folder)?;
        fs::read_dir(folder)?.try_fold(0, |count, entry| {
            let name = entry?.file_name();
            let is_page =
                name.to_str().is_some_and(|name| name.starts_with("deskhand") && name.ends_with(".1"));
            Ok(count + usize::from(is_page))
        })
    };
    let pages = write().map_err(|error| {
        CliError::failed_to(format!("write man pages to {}", folder.display()), error)
            .with_help("use a writable folder, such as `man1`")
    })?;
    Output::to(OutputStream::Error).text(format!("wrote {pages} man pages to {}", folder.display()));
    Ok(Exit::Success)
}

/// The command line without internal commands, which clap would complete too.
fn visible() -> clap::Command {
    let whole = CliArgs::command();
    let shown: Vec<clap::Command> =
        whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let mut command = clap::Command::new("deskhand")
        .version(env!("CARGO_PKG_VERSION"))
        .arg_required_else_help(true)
        .subcommands(shown);
    if let Some(about) = whole.get_about() {
        command = command.about(about.clone());
    }
    if let Some(examples) = whole.get_after_help() {
        command = command.after_help(examples.clone());
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hidden_commands_are_left_out() {
        let names = |command: &clap::Command, hidden: bool| -> Vec<String> {
            let commands = command.get_subcommands().filter(|command| command.is_hide_set() == hidden);
            commands.map(|command| command.get_name().to_owned()).collect()
        };
        let (whole, visible) = (CliArgs::command(), visible());
        assert_eq!(names(&visible, false), names(&whole, false));
        assert_eq!(names(&visible, true), Vec::<String>::new());
        assert_eq!(whole.get_arguments().count(), visible.get_arguments().count());
    }
}
