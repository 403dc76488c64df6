//! A helper program: `confined CONFINEMENT PROGRAM [ARGUMENTS…]`, with the confinement as JSON.
//!
//! `deskhand sandboxed` is the same; the tests of this crate use this one.

use std::{env, io::Write as _, process::ExitCode};

use deskhand_confine::{NOT_STARTED, run};

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let (Some(confinement), Some(program)) = (arguments.next(), arguments.next()) else {
        return ExitCode::FAILURE;
    };
    let arguments: Vec<_> = arguments.collect();
    let ended = env::current_exe().map_err(|error| error.to_string()).and_then(|helper| {
        let confinement =
            serde_json::from_slice(confinement.as_encoded_bytes()).map_err(|error| error.to_string())?;
        run(&confinement, &[helper.into()], program.as_ref(), &arguments)
    });
    match ended {
        Ok(ended) => {
            if let Some(limit) = ended.limit {
                writeln!(std::io::stderr(), "\n{limit}").ok();
            }
            ExitCode::from(ended.code)
        }
        Err(why) => {
            // Nobody is left to tell if this fails.
            writeln!(std::io::stderr(), "{why}").ok();
            ExitCode::from(NOT_STARTED)
        }
    }
}
