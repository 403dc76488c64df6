//! Machines that are network namespaces, joined by a switch that is another one.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command},
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};

use crate::pace::pause;
use xtask::workspace;

/// How many machines.
pub(super) const MACHINES: usize = 3;
/// How long a process may take to end before it is killed.
const ENDS: Duration = Duration::from_secs(30);
/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(100);

/// The network. It is removed when this is dropped.
pub(super) struct Network {
    /// What its names begin with.
    name: String,
    /// Where the programs are that the guide calls by name.
    programs: PathBuf,
}

impl Network {
    /// Why there can be none here.
    pub(super) fn cannot() -> Option<String> {
        if !rustix::process::geteuid().is_root() {
            return Some("network namespaces need root".to_owned());
        }
        for program in ["ip", "unshare"] {
            if !workspace::is_program(program) {
                return Some(format!("there is no `{program}`; install iproute2 and util-linux"));
            }
        }
        let name = format!("dh{}-try", std::process::id());
        match ip(&["netns", "add", &name]).and_then(|()| ip(&["netns", "del", &name])) {
            Ok(()) => None,
            Err(error) => Some(format!("this machine allows no network namespaces: {error}")),
        }
    }

    /// Joins the machines: the first has 10.0.0.1, the next 10.0.0.2.
    pub(super) fn new(programs: PathBuf) -> Result<Self> {
        let network = Self { name: format!("dh{}", std::process::id()), programs };
        let switch = network.switch();
        ip(&["netns", "add", &switch])?;
        ip(&["-n", &switch, "link", "add", "switch", "type", "bridge"])?;
        ip(&["-n", &switch, "link", "set", "switch", "up"])?;
        for number in 1..=MACHINES {
            let (machine, port) = (network.machine(number), format!("port{number}"));
            ip(&["netns", "add", &machine])?;
            ip(&[
                "-n", &switch, "link", "add", &port, "type", "veth", "peer", "name", "eth0", "netns",
                &machine,
            ])?;
            ip(&["-n", &switch, "link", "set", &port, "master", "switch", "up"])?;
            ip(&["-n", &machine, "address", "add", &format!("10.0.0.{number}/24"), "dev", "eth0"])?;
            ip(&["-n", &machine, "link", "set", "eth0", "up"])?;
            ip(&["-n", &machine, "link", "set", "lo", "up"])?;
        }
        Ok(network)
    }

    fn switch(&self) -> String {
        format!("{}-switch", self.name)
    }

    fn machine(&self, number: usize) -> String {
        format!("{}-{number}", self.name)
    }

    /// Plugs the link of a machine in, or pulls it.
    pub(super) fn set_link(&self, number: usize, is_up: bool) -> Result<()> {
        let state = if is_up { "up" } else { "down" };
        ip(&["-n", &self.switch(), "link", "set", &format!("port{number}"), state])
    }

    /// A shell command on a machine, which is called `lab-N` there.
    pub(super) fn command(&self, number: usize, home: &Path, command: &str) -> Command {
        let programs = [self.programs.clone(), workspace::root().join("target/wheels/mcp/bin")];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&path)));
        let mut prepared = Command::new("ip");
        prepared
            .args(["netns", "exec", &self.machine(number), "unshare", "--uts", "sh", "-c"])
            .arg(format!(
                "hostname lab-{number} && export DESKHAND_FLEET=nats://10.0.0.1:4222 && exec {command}"
            ))
            .current_dir(home)
            .env("HOME", home)
            .env("PATH", path.unwrap_or_default())
            .stdin(std::process::Stdio::null());
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"] {
            prepared.env_remove(name);
        }
        prepared
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in (1..=MACHINES).map(|number| self.machine(number)).chain([self.switch()]) {
            let _ = ip(&["netns", "del", &name]);
        }
    }
}

fn ip(words: &[&str]) -> Result<()> {
    let output = Command::new("ip").args(words).output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "ip {}: {}", words.join(" "), errors.trim());
    Ok(())
}

/// Asks a process twice to end, as a person does who does not wait for what it does, and kills it if that is in vain.
pub(super) fn end(child: &mut Child) {
    let Some(id) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) else { return };
    let begun = Instant::now();
    while begun.elapsed() < ENDS {
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        pause(LOOK);
    }
    let _ = child.kill();
    let _ = child.wait();
}
