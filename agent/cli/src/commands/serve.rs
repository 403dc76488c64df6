//! `deskhand serve`: the page.

use std::{
    env, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use deskhand_host::config::{documents_dir, serve_dir};
use deskhand_serve::page::{
    FleetView, PageOptions, PageServer, TlsFiles, UNIT, install, uninstall, unit_text,
};

use super::{fleet_server::FleetEndpoint, host::load, signals::StopSignals};
use crate::{
    args::ServeArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

pub(crate) async fn serve(args: &ServeArgs) -> CommandResult {
    if args.install || args.uninstall {
        return unit(args);
    }
    let host = load(args.store.overrides())?;
    let folder = serve_dir(&host.sessions());
    if args.url {
        return url(&folder);
    }
    let state = args.store.state_dir().map(|folder| format!("--state-dir={folder}"));
    let defaults = load(args.overrides().map_err(CliError::usage)?)?.config().clone();
    let address = SocketAddr::new(args.address, args.port);
    let options = PageOptions {
        address,
        tls: tls(args),
        hosts: args.hosts.clone(),
        program: program()?,
        arguments: state.into_iter().chain(args.options.iter().cloned()).collect(),
        defaults,
        documents: documents_dir(&host.sessions()),
        folder,
        fleet: fleet(args)?,
    };
    let server = PageServer::bind(host, options).await.map_err(|error| {
        let is_taken = error.kind() == io::ErrorKind::AddrInUse;
        let failed = CliError::failed_to(format!("listen on {address}"), error);
        if is_taken {
            failed.with_help("choose another port with --port, or 0 for a free one")
        } else {
            failed
        }
    })?;
    Output::to(OutputStream::Out).text(&server.url);
    let words = "Open this address in a browser; Ctrl-C ends the page, and no session.";
    Output::to(OutputStream::Error).line(&StyledLine::of(OutputTone::Faint, words));
    let mut signals = StopSignals::catch()?;
    let ending = async move {
        let _ = signals.next().await;
    };
    server.serve(ending).await.map_err(|error| CliError::failed_to("serve the page", error))?;
    Ok(Exit::Success)
}

/// The fleet that is shown, if one is named.
fn fleet(args: &ServeArgs) -> Result<Option<FleetView>, CliError> {
    let Some(reached) = FleetEndpoint::if_named(&args.fleet, Some(&args.sign))? else { return Ok(None) };
    let key = reached.key()?.map(Arc::new);
    Ok(Some(FleetView { server: reached.options, key }))
}

fn program() -> Result<PathBuf, CliError> {
    env::current_exe().map_err(|error| CliError::failed_to("find the path of this program", error))
}

fn tls(args: &ServeArgs) -> Option<TlsFiles> {
    let (certificate, key) = (args.tls_certificate.clone()?, args.tls_key.clone()?);
    Some(TlsFiles { certificate, key })
}

/// Prints the address of the service that runs.
fn url(folder: &Path) -> CommandResult {
    let url = PageServer::url_in(folder);
    let url = url.map_err(|_| CliError::new("no service runs").with_help("start one: deskhand serve"))?;
    Output::to(OutputStream::Out).text(&url);
    Ok(Exit::Success)
}

/// Has systemd run the service, or not any more.
fn unit(args: &ServeArgs) -> CommandResult {
    let config = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let config = config.or_else(|| Some(env::home_dir()?.join(".config")));
    let units = config.ok_or_else(|| CliError::new("there is no home folder"))?.join("systemd/user");
    let (done, by_hand) = if args.uninstall {
        let gone = uninstall(&units);
        (gone.map_err(|error| CliError::failed_to(format!("remove {UNIT}"), error))?, "disable --now")
    } else {
        let text = unit_text(&program()?, &words_of(args)?);
        let made = install(&units, &text);
        (made.map_err(|error| CliError::failed_to(format!("write {UNIT}"), error))?, "enable --now")
    };
    let file = done.file.display();
    let output = Output::to(OutputStream::Out);
    output.text(&if args.uninstall { format!("removed {file}") } else { format!("wrote {file}") });
    let words = match done.problem {
        Some(problem) => {
            format!("systemd did not take it ({problem}); where it runs: systemctl --user {by_hand} {UNIT}")
        }
        None if args.uninstall => return Ok(Exit::Success),
        None => "It runs, and will whenever you log in. Its address: deskhand serve --url".to_owned(),
    };
    Output::to(OutputStream::Error).line(&StyledLine::of(OutputTone::Plain, words));
    Ok(Exit::Success)
}

/// The arguments with which the unit starts the service: those that were given, with whole paths.
fn words_of(args: &ServeArgs) -> Result<Vec<String>, CliError> {
    let mut words =
        vec!["serve".to_owned(), format!("--port={}", args.port), format!("--address={}", args.address)];
    words.extend(args.hosts.iter().map(|host| format!("--host={host}")));
    let files = [
        ("--tls-certificate", args.tls_certificate.clone()),
        ("--tls-key", args.tls_key.clone()),
        ("--state-dir", args.store.state_dir().map(PathBuf::from)),
    ];
    let fleet = &args.fleet;
    // Everybody on this machine can read the unit.
    if fleet.servers.iter().any(|address| address.contains('@')) {
        let problem = "the address of the fleet has a password, which would stand in the unit";
        return Err(CliError::usage(problem).with_help("give the service a file instead: --credentials FILE"));
    }
    let mut of_fleet = Vec::new();
    if !fleet.servers.is_empty() {
        words.push(format!("--fleet={}", fleet.servers.join(",")));
        words.extend(fleet.fleet_name.iter().map(|name| format!("--fleet-name={name}")));
        words.extend([format!("--replicas={}", fleet.replicas), format!("--lease={}", fleet.lease)]);
        of_fleet = vec![
            ("--credentials", fleet.credentials.clone()),
            ("--roots", fleet.roots.clone()),
            ("--certificate", fleet.certificate.clone()),
            ("--certificate-key", fleet.certificate_key.clone()),
            ("--key", args.sign.key.clone()),
        ];
    }
    for (name, file) in files.into_iter().chain(of_fleet) {
        let Some(file) = file else { continue };
        let whole = std::path::absolute(&file)
            .map_err(|error| CliError::failed_to(format!("find {}", file.display()), error))?;
        words.push(format!("{name}={}", whole.display()));
    }
    if !args.options.is_empty() {
        words.push("--".to_owned());
        words.extend(args.options.iter().cloned());
    }
    Ok(words)
}
