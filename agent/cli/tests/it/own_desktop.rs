//! The desktop that one sits at, on a headless sway.

use deskhand_testkit::{
    compositor::{NEEDS, Session},
    programs::can_run,
};

use crate::support::World;

#[test]
fn commands_work_on_a_desktop_of_sway_and_the_doctor_names_what_is_lacking() {
    if !can_run(Vec::new(), &[&NEEDS[..], &["mousepad"]].concat()) {
        return;
    }
    let session = Session::start("").unwrap();
    let world = World::new();
    let run = |arguments: &[&str], without: &[&str]| {
        let mut command = world.command(arguments);
        for (name, value) in session.variables() {
            if !without.iter().chain(&["HOME", "PATH"]).any(|left_out| name == left_out) {
                command.env(name, value);
            }
        }
        world.shown(&command.output().unwrap())
    };
    let doctor = run(&["doctor"], &[]);
    let current = |text: &str| text.lines().find(|line| line.contains("current desktop")).map(str::to_owned);
    let line = current(&doctor).unwrap_or_else(|| panic!("{doctor}"));
    assert!(line.contains("ok") && line.contains("(linux-wayland), with accessibility"), "{line}");
    let doctor = run(&["doctor"], &["SWAYSOCK"]);
    let line = current(&doctor).unwrap_or_else(|| panic!("{doctor}"));
    assert!(line.contains("absent") && line.contains("sway does not offer windows"), "{line}");
    assert!(doctor.contains("fix: use `--desktop virtual`"), "{doctor}");

    let typed = run(&["act", "--launch", "mousepad", "type", "--into", "text", "Grüße, 東京"], &[]);
    assert!(typed.starts_with("exit 0") && typed.contains("seen"), "{typed}");
    let tree = run(&["tree"], &[]);
    assert!(tree.contains("Grüße, 東京"), "{tree}");
}
