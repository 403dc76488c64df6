//! A headless Wayland session of a test's own: sway without a screen, and a session bus. Both end when it is dropped, and with sway all
//! applications on it.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{BufRead as _, BufReader, Error, Result},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

/// The programs that it needs.
pub const NEEDS: [&str; 3] = ["sway", "dbus-daemon", "unshare"];

/// Everyone who can open its socket is accepted. No service is started but those that are named: some would outlive the test.
const BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={folder}/run/bus</listen>
  <auth>EXTERNAL</auth>
  <servicedir>{folder}/services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;
/// Where services are described, and the one that a session needs.
const SERVICES: &str = "/usr/share/dbus-1/services";
pub(crate) const ACCESSIBILITY: &str = "org.a11y.Bus.service";

/// A session that runs.
pub struct Session {
    folder: PathBuf,
    bus: Child,
    sway: Child,
    variables: Vec<(OsString, OsString)>,
}

impl Session {
    /// Starts one. `configuration` is added to that of sway, which has one monitor of 1280 × 800 without it. Blocking.
    ///
    /// # Errors
    /// What sway or the bus wrote, if one of them does not start.
    pub fn start(configuration: &str) -> Result<Self> {
        let unique = SystemTime::now().duration_since(UNIX_EPOCH).map_err(Error::other)?.as_nanos();
        let folder = env::temp_dir().join(format!("deskhand-sway-{}-{unique}", std::process::id()));
        for name in ["home", "run"] {
            fs::create_dir_all(folder.join(name))?;
        }
        make_private(&folder.join("run"))?;
        let path = env::var_os("PATH").unwrap_or_default();
        let mut variables: Vec<(OsString, OsString)> = [
            ("HOME", folder.join("home").into_os_string()),
            ("XDG_RUNTIME_DIR", folder.join("run").into_os_string()),
            ("PATH", path),
            ("LC_CTYPE", "C.UTF-8".into()),
            ("GDK_BACKEND", "wayland".into()),
            ("GSETTINGS_BACKEND", "memory".into()),
            ("QT_QPA_PLATFORM", "wayland".into()),
            ("SAL_USE_VCLPLUGIN", "gtk3".into()),
            ("XDG_SESSION_TYPE", "wayland".into()),
        ]
        .map(|(name, value)| (name.into(), value))
        .into();
        let (mut bus, address) = start_bus(&folder, &variables, &[ACCESSIBILITY])?;
        variables.push(("DBUS_SESSION_BUS_ADDRESS".into(), address.into()));
        let started = start_sway(&folder, &variables, configuration);
        if started.is_err() {
            bus.kill().ok();
            bus.wait().ok();
        }
        let (sway, display, socket) = started?;
        variables.push(("WAYLAND_DISPLAY".into(), display.into()));
        variables.push(("SWAYSOCK".into(), socket.into()));
        Ok(Self { folder, bus, sway, variables })
    }

    /// The environment of programs in it.
    #[must_use]
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// A folder of its own, which is removed at the end.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for child in [&mut self.sway, &mut self.bus] {
            // It may have ended.
            child.kill().ok();
            child.wait().ok();
        }
        fs::remove_dir_all(&self.folder).ok();
    }
}

/// Others must not enter a folder with sockets.
pub(crate) fn make_private(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

/// Starts a session bus that starts these services; returns its address.
pub(crate) fn start_bus(
    folder: &Path,
    variables: &[(OsString, OsString)],
    started: &[&str],
) -> Result<(Child, String)> {
    let services = folder.join("services");
    fs::create_dir_all(&services)?;
    for name in started {
        symlink(Path::new(SERVICES).join(name), services.join(name))?;
    }
    let file = folder.join("bus.conf");
    fs::write(&file, BUS.replace("{folder}", &folder.to_string_lossy()))?;
    let mut command = Command::new("dbus-daemon");
    command.arg("--config-file").arg(&file).args(["--nofork", "--nopidfile", "--print-address"]);
    start(command, "dbus-daemon", folder, variables)
}

fn start_sway(
    folder: &Path,
    variables: &[(OsString, OsString)],
    configuration: &str,
) -> Result<(Child, String, String)> {
    // What sway starts writes to its standard output: the line comes when it is ready.
    let text = format!(
        "output HEADLESS-1 mode 1280x800 position 0 0\n\
         focus_follows_mouse no\n\
         xwayland disable\n\
         {configuration}\n\
         exec echo \"$WAYLAND_DISPLAY $SWAYSOCK\"\n"
    );
    let file = folder.join("sway.conf");
    fs::write(&file, text)?;
    // Sway does not run as root, so for root it gets a name space in which it is somebody else.
    let mut command = if rustix::process::geteuid().is_root() {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-user=1000", "--map-group=1000", "sway"]);
        command
    } else {
        Command::new("sway")
    };
    command.arg("--config").arg(&file);
    for (name, value) in
        [("WLR_BACKENDS", "headless"), ("WLR_RENDERER", "pixman"), ("WLR_LIBINPUT_NO_DEVICES", "1")]
    {
        command.env(name, value);
    }
    let (child, line) = start(command, "sway", folder, variables)?;
    let (display, socket) = line.split_once(' ').unwrap_or_default();
    Ok((child, display.to_owned(), socket.to_owned()))
}

/// Starts a program and reads the first line that it writes.
fn start(
    mut command: Command,
    name: &str,
    folder: &Path,
    variables: &[(OsString, OsString)],
) -> Result<(Child, String)> {
    let log = folder.join(name).with_extension("log");
    // What was set before holds besides.
    let own: Vec<(OsString, OsString)> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    command.env_clear().envs(variables.iter().cloned()).envs(own).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(fs::File::create(&log)?);
    let mut child = command.spawn()?;
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    if line.trim().is_empty() {
        child.kill().ok();
        child.wait().ok();
        return Err(Error::other(fs::read_to_string(&log).unwrap_or_default()));
    }
    Ok((child, line.trim().to_owned()))
}
