//! `deskhand doctor`: checks this machine, with a fix for everything that is missing.

use std::path::PathBuf;

use deskhand_desktop::{Capture as _, Desktop as _, DesktopError};
use deskhand_desktop_detect::{DetectOptions, OcrOptions, OcrUse, unread_language};
use deskhand_desktop_linux as linux;
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_host::{
    Host, HostError, agent_help,
    config::{self, Config, ConfineSetting, FleetSettings, SocketSetting},
    model::ModelSetup,
};
use deskhand_machine::model::MessagePart;
use deskhand_model::{AnyModel, Model as _, NoModelSigns, NoPictures};
use deskhand_ui::text::one_line;
use serde::Serialize;
use tokio::time::timeout;

use super::{
    host::load,
    probe::{TRIAL_BOUND, probe, quick},
    signals::StopSignals,
};
use crate::{
    args::DoctorArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct MachineCheckResult {
    area: &'static str,
    name: String,
    ok: bool,
    /// `true` if `deskhand run` needs it.
    required: bool,
    detail: String,
    fix: String,
}

pub(crate) async fn doctor(args: &DoctorArgs) -> CommandResult {
    if args.gnome_extension {
        return gnome_extension().await;
    }
    let work = async {
        let mut findings = installed().await;
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let has_display = is_set("WAYLAND_DISPLAY") || is_set("DISPLAY");
        findings.push(virtual_desktop(!has_display).await);
        if has_display {
            findings.push(current_desktop().await);
        }
        findings.push(sandbox());
        findings.extend(model(args).await);
        report(args, &findings);
        let all = findings.iter().all(|finding| finding.ok || !finding.required);
        Ok(if all { Exit::Success } else { Exit::Negative })
    };
    StopSignals::catch()?.unless_stopped(work).await
}

async fn installed() -> Vec<MachineCheckResult> {
    let found = tokio::task::spawn_blocking(linux::diagnose).await.unwrap_or_default();
    found
        .into_iter()
        .map(|finding| MachineCheckResult {
            area: "installed",
            name: finding.name,
            ok: finding.ok,
            required: finding.required,
            detail: finding.detail,
            fix: finding.fix,
        })
        .collect()
}

/// Starts a virtual desktop and takes a screenshot, since installed files alone prove little.
async fn virtual_desktop(required: bool) -> MachineCheckResult {
    let trial = async {
        let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await?;
        let picture = desktop.screen().await.map(|picture| picture.region.width);
        let (ms, accessible) = (desktop.startup().total_ms, desktop.accessibility_address().is_some());
        desktop.shut_down().await;
        picture.map(|_| (ms, accessible))
    };
    let (ok, detail, fix) = match timeout(TRIAL_BOUND, trial).await {
        Ok(Ok((ms, true))) => (true, format!("started in {ms} ms, with accessibility and screenshots"), ""),
        Ok(Ok((ms, false))) => {
            (false, format!("started in {ms} ms, but without an accessibility bus"), "install at-spi2-core")
        }
        Ok(Err(error)) => (false, error.chain(), "install the missing programs above"),
        Err(_) => (
            false,
            format!("not started within {} s", TRIAL_BOUND.as_secs()),
            "run `DESKHAND_LOG=debug deskhand doctor` for details",
        ),
    };
    MachineCheckResult {
        area: "tested",
        name: "virtual desktop".to_owned(),
        ok,
        required,
        detail,
        fix: fix.to_owned(),
    }
}

/// Installs the extension of GNOME Shell, and says how it is enabled.
async fn gnome_extension() -> CommandResult {
    let folder = linux::install_gnome_extension().await.map_err(|error| CliError::new(error.chain()))?;
    let out = Output::to(OutputStream::Out);
    out.line(
        &StyledLine::of(OutputTone::Good, "installed ").with(OutputTone::Plain, folder.display().to_string()),
    );
    let next = format!("log out and in again, then run `gnome-extensions enable {}`", linux::GNOME_EXTENSION);
    out.line(&StyledLine::of(OutputTone::Plain, next));
    Ok(Exit::Success)
}

/// Checks the capabilities of a desktop whose portal asks the user, without triggering that question.
fn portal_desktop(support: &linux::CompositorSupport) -> MachineCheckResult {
    let ok = support.is_enough();
    let asks = if ok { "; its portal asks you before it is used" } else { "" };
    MachineCheckResult {
        area: "tested",
        name: "current desktop".to_owned(),
        ok,
        required: false,
        detail: format!("{}{asks}", support.describe()),
        fix: if ok { String::new() } else { support.advice.join(", and ") },
    }
}

/// Connects to the desktop of the user. Under Wayland, the compositor has to offer what is needed, and what it lacks is named.
async fn current_desktop() -> MachineCheckResult {
    if let Some(support) = linux::portal_support().await {
        return portal_desktop(&support);
    }
    let (ok, detail, fix) = match timeout(TRIAL_BOUND, LinuxDesktop::connect_current()).await {
        Ok(Ok(desktop)) => match desktop.accessibility_address() {
            Some(_) => (true, format!("{}, with accessibility", named(&desktop)), String::new()),
            None => (
                false,
                format!("{}, without an accessibility bus", named(&desktop)),
                "run this in the graphical session (DBUS_SESSION_BUS_ADDRESS), or use `--desktop virtual`"
                    .to_owned(),
            ),
        },
        // It names the next step itself.
        Ok(Err(DesktopError::Start { what, fix })) => (false, what, fix),
        Ok(Err(error)) => (false, error.chain(), "use `--desktop virtual`".to_owned()),
        Err(_) => (
            false,
            format!("no answer within {} s", TRIAL_BOUND.as_secs()),
            "use `--desktop virtual`".to_owned(),
        ),
    };
    MachineCheckResult {
        area: "tested",
        name: "current desktop".to_owned(),
        ok,
        required: false,
        detail,
        fix,
    }
}

/// The display of a desktop, and what kind it is.
fn named(desktop: &LinuxDesktop) -> String {
    format!("{} ({})", desktop.display_name(), desktop.capabilities().platform)
}

/// The sandbox for programs of agents.
fn sandbox() -> MachineCheckResult {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let support = deskhand_confine::support(&path);
    MachineCheckResult {
        area: "tested",
        name: "sandbox for programs".to_owned(),
        ok: support.is_enough(),
        required: false,
        detail: support.describe(),
        fix: support.advice(),
    }
}

/// Checks the confinement of applications on a virtual desktop.
fn applications(config: &Config) -> MachineCheckResult {
    let list = |places: &[PathBuf]| {
        places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let (ok, detail, fix) = match config::confine(config).kept_out() {
        Ok(Some(kept)) => {
            let detail = format!(
                "kept from {}; can write to {}; `desktop.allow` opens a place",
                list(&kept.hidden),
                list(&kept.writable)
            );
            (true, detail, String::new())
        }
        Ok(None) if config.desktop.confine == ConfineSetting::Off => {
            (true, format!("not confined (`desktop.confine`); {}", unconfined(config)), String::new())
        }
        Ok(None) => (false, format!("not confined; {}", unconfined(config)), "install bubblewrap".to_owned()),
        Err(reason) => (false, reason, "install bubblewrap".to_owned()),
    };
    MachineCheckResult { area: "tested", name: "applications".to_owned(), ok, required: false, detail, fix }
}

/// Describes the access of applications that nothing confines.
fn unconfined(config: &Config) -> String {
    let socket = match config.people.socket {
        SocketSetting::IfConfined | SocketSetting::Watch => {
            "control sockets only watch and stop sessions (`people.socket`)"
        }
        SocketSetting::Always => "control sockets take approvals and words all the same (`people.socket`)",
    };
    let refused = match config.desktop.confine {
        ConfineSetting::Off => "they can use our sockets like any program of yours",
        ConfineSetting::IfPossible | ConfineSetting::Required => "our sockets still refuse them",
    };
    format!(
        "they run with your permissions and can read and change your files, those of Deskhand included; {refused}; {socket}"
    )
}

/// The configuration and the model. Both are required, because `run` fails without them.
async fn model(args: &DoctorArgs) -> Vec<MachineCheckResult> {
    let path = config::config_path();
    let finding = |name: &str, result: Result<String, (String, String)>| {
        let (ok, detail, fix) = match result {
            Ok(detail) => (true, detail, String::new()),
            Err((detail, fix)) => (false, detail, fix),
        };
        MachineCheckResult { area: "model", name: name.to_owned(), ok, required: true, detail, fix }
    };
    let host = match load(args.model.overrides()) {
        Ok(host) => host,
        Err(error) => return vec![finding("configuration", Err((error.to_string(), error.help_text())))],
    };
    let file = if path.exists() {
        path.display().to_string()
    } else {
        format!("{} (no such file; using defaults)", path.display())
    };
    let mut findings =
        vec![elements(host.config()), applications(host.config()), finding("configuration", Ok(file))];
    findings.extend(fleet(&host.config().fleet));
    findings.extend(agents(&host).await);
    findings.extend(sources(&host).await);
    let choices = match ModelSetup::of(host.config(), args.script.variables()).map_err(HostError::from) {
        Ok(setup) => setup.choices(),
        Err(error) => {
            let error = CliError::from(error);
            findings.push(finding("model", Err((error.to_string(), error.help_text()))));
            return findings;
        }
    };
    for (at, (name, choice)) in choices.into_iter().enumerate() {
        // The first is the usual one, and those of roles and backups have names.
        let name = if at == 0 { "model".to_owned() } else { format!("model {name}") };
        let opened = choice.and_then(|choice| quick(choice).open()).map_err(CliError::from);
        findings.push(match opened {
            Err(error) => finding(&name, Err((error.to_string(), error.help_text()))),
            Ok(opened) if args.ask => {
                let answer = match opened.start().await {
                    Ok(()) => ask(&opened.model).await,
                    Err(error) => Err((error.to_string(), error.help())),
                };
                opened.end().await;
                finding(&name, answer)
            }
            Ok(opened) => finding(&name, Ok(format!("{} (not contacted; use --ask)", opened.model.name()))),
        });
    }
    findings
}

/// Whose tasks a worker of this machine takes, if what it takes is configured.
fn fleet(settings: &FleetSettings) -> Option<MachineCheckResult> {
    if *settings == FleetSettings::default() {
        return None;
    }
    let names: Vec<&str> = settings.accept.keys().map(String::as_str).collect();
    let (ok, detail, fix) = if names.is_empty() {
        let fix = "name who may submit tasks: `fleet.accept.NAME = \"KEY\"` with a key that `deskhand fleet key` prints";
        (false, "a worker takes tasks that nobody signed (`fleet.accept` is empty)".to_owned(), fix)
    } else {
        (true, format!("a worker takes tasks that were signed by {}", names.join(", ")), "")
    };
    let name = "tasks of a fleet".to_owned();
    Some(MachineCheckResult { area: "fleet", name, ok, required: false, detail, fix: fix.to_owned() })
}

/// The agents that own no window: those that are enabled, and all that are configured.
async fn agents(host: &Host) -> Vec<MachineCheckResult> {
    let settings = &host.config().agents;
    let configured = settings.programs.keys().chain(settings.machines.keys());
    let mut names: Vec<&String> = settings.enabled.iter().chain(configured).collect();
    names.sort();
    names.dedup();
    let mut findings = Vec::new();
    for name in names {
        // A session with an enabled agent that cannot be opened does not start. The fleet is only needed for sub-tasks.
        let required = settings.enabled.contains(name) && !settings.machines.contains_key(name);
        let (ok, detail, fix) = match timeout(TRIAL_BOUND, host.try_agent(name)).await {
            Ok(Ok(told)) => (true, one_line(&told), String::new()),
            Ok(Err(problem)) => (false, problem, agent_help(name)),
            Err(_) => (false, format!("not opened within {} s", TRIAL_BOUND.as_secs()), agent_help(name)),
        };
        findings.push(MachineCheckResult { area: "agents", name: name.clone(), ok, required, detail, fix });
    }
    findings
}

/// The sources of tools: MCP servers and programs. A session runs without one that cannot be opened.
async fn sources(host: &Host) -> Vec<MachineCheckResult> {
    let advice = "mend it, or switch it off with `enabled = false`; see docs/guides/tools.md";
    let tried = match host.try_sources(TRIAL_BOUND).await {
        Ok(tried) => tried,
        Err(error) => vec![("tools".to_owned(), Err(CliError::from(error).to_string()))],
    };
    let finding = |(name, outcome): (String, Result<String, String>)| {
        let (ok, detail) = match outcome {
            Ok(detail) => (true, detail),
            Err(problem) => (false, problem),
        };
        let fix = if ok { "" } else { advice }.to_owned();
        MachineCheckResult { area: "tools", name, ok, required: false, detail: one_line(&detail), fix }
    };
    tried.into_iter().map(finding).collect()
}

/// The back ends that find elements.
fn elements(config: &Config) -> MachineCheckResult {
    let reads = |options: &DetectOptions| options.ocr == OcrUse::Always;
    let result =
        config.to_detection().map_err(|error| (error.to_string(), error.help())).and_then(|options| {
            if options.reader.model.is_some()
                && let Some(missing) = config::local_program_missing()
            {
                let fix = "`cargo xtask setup --with local`, or `ocr.reader = \"tesseract\"`";
                return Err((format!("a model for OCR is pulled, but {missing}"), fix.to_owned()));
            }
            let reader = match reader(&options) {
                Some(reader) => reader,
                None if reads(&options) => {
                    let program = options.reader.program.display();
                    let missing =
                        format!("OCR is enabled, but there is no model, and `{program}` is not installed");
                    let fix = "`deskhand model pull ocr`, or `apt-get install tesseract-ocr`";
                    return Err((missing, fix.to_owned()));
                }
                None => match unread_language(&options.reader.languages) {
                    Some(language) => format!("nothing: no `tesseract` for {language}"),
                    None => "nothing: `deskhand model pull ocr`".to_owned(),
                },
            };
            let sources = [
                options.tree.then(|| "at-spi".to_owned()),
                match options.ocr {
                    OcrUse::Always => Some(format!("ocr (by {reader})")),
                    OcrUse::EmptyWindows => Some(format!("ocr for windows without elements (by {reader})")),
                    OcrUse::Never => None,
                },
                options.omniparser.map(|parser| format!("omniparser at {}", parser.endpoint)),
            ];
            Ok(sources.into_iter().flatten().collect::<Vec<_>>().join(", "))
        });
    let (ok, detail, fix) = match result {
        Ok(detail) => (true, detail, String::new()),
        Err((detail, fix)) => (false, detail, fix),
    };
    MachineCheckResult {
        area: "elements",
        name: "control_backend".to_owned(),
        ok,
        required: true,
        detail,
        fix,
    }
}

/// Returns the name of the reader for text in pictures; `None` if there is none.
fn reader(options: &DetectOptions) -> Option<String> {
    let OcrOptions { model, program, .. } = &options.reader;
    let installed = || linux::find_program(program.as_os_str()).map(|found| found.display().to_string());
    model.as_ref().map(|_| "PP-OCR".to_owned()).or_else(installed)
}

async fn ask(model: &AnyModel) -> Result<String, (String, String)> {
    let AnyModel::Endpoint(endpoint) = model else {
        return Ok(format!("{} (a script cannot answer test questions)", model.name()));
    };
    let question = vec![MessagePart::Text {
        text: "Answer with the JSON object {\"ok\": true} and nothing else.".to_owned(),
    }];
    let request = probe(question, "ok", "boolean", 1_000);
    match endpoint.ask(&request, &NoPictures, &NoModelSigns).await {
        Ok(reply) => Ok(format!("{} answered after {} ms", reply.model, reply.elapsed_ms)),
        Err(failure) => Err((failure.to_string(), "fix the section [model] of the configuration".to_owned())),
    }
}

fn report(args: &DoctorArgs, findings: &[MachineCheckResult]) {
    let out = Output::to(OutputStream::Out);
    if args.json {
        out.pretty_json(&findings);
        return;
    }
    let mut area = "";
    for finding in findings {
        if finding.area != area {
            area = finding.area;
            out.line(&StyledLine::of(OutputTone::Strong, area));
        }
        let (tone, word) = match (finding.ok, finding.required) {
            (true, _) => (OutputTone::Good, "ok"),
            (false, true) => (OutputTone::Bad, "missing"),
            (false, false) => (OutputTone::Doubtful, "absent"),
        };
        out.line(
            &StyledLine::of(tone, format!("  {word:<8} "))
                .with(OutputTone::Plain, format!("{:<38} ", finding.name))
                .with(OutputTone::Faint, finding.detail.as_str()),
        );
        if !finding.ok && !finding.fix.is_empty() {
            out.line(
                &StyledLine::of(OutputTone::Faint, "           fix: ")
                    .with(OutputTone::Plain, finding.fix.as_str()),
            );
        }
    }
    let missing = findings.iter().filter(|finding| finding.required && !finding.ok).count();
    out.line(&match missing {
        0 => StyledLine::of(OutputTone::Good, "Ready: `deskhand run` has everything it needs."),
        count => StyledLine::of(OutputTone::Bad, format!("Not ready: {count} missing for `deskhand run`.")),
    });
}
