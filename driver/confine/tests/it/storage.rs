//! What programs store is bounded in total, however they store it.

use std::{
    fs,
    process::Output,
    time::{Duration, Instant},
};

use crate::world::{MARK, World, text};

/// How long a program that stores as much as it can may go on.
const BOUND: Duration = Duration::from_secs(150);

/// Runs a script of Python to its end, which is bounded.
fn python(world: &World, script: &str) -> Output {
    let started = Instant::now();
    let output = world.run("python3", &["-c", script]);
    assert!(started.elapsed() < BOUND, "{:?}: {}", started.elapsed(), text(&output));
    output
}

/// The program was ended for the limit of this name, and nothing of it is left.
fn assert_ended(world: &World, output: &Output, limit: &str) {
    let shown = text(output);
    assert_eq!(output.status.code(), Some(123), "{shown}");
    let last = shown.trim().lines().last().unwrap_or_default();
    assert!(last.starts_with(MARK) && last.contains(limit), "{shown}");
    if limit.starts_with("disk") {
        assert!(last.contains(&world.path("work").canonicalize().unwrap().display().to_string()), "{shown}");
    }
    assert_eq!(world.processes("/usr/bin/python3", ""), Vec::<String>::new());
}

/// What scripts share. Each goes on at a pace that exceeds a limit in time, and then waits to be ended.
const ENDLESS: &str = "
import mmap, os, time
MIB = bytes(1 << 20)
def numbers(most=300):
    for number in range(most):
        yield number
        time.sleep(0.003)
";

#[test]
fn many_files_fill_no_more_than_the_limit() {
    World::each(|mut world| {
        world.confinement.limits.disk_mb = 32;
        let script = "
for number in numbers():
    folder = 'deep/' * (number % 7) + str(number)
    os.makedirs(folder)
    open(folder + '/file', 'wb').write(MIB)
time.sleep(100)
";
        let output = python(&world, &format!("{ENDLESS}{script}"));
        assert_ended(&world, &output, "disk_mb");
    });
}

#[test]
fn removed_files_count_while_they_are_open_or_mapped() {
    World::each(|mut world| {
        world.confinement.limits.disk_mb = 32;
        let open = "
kept = []
for number in numbers():
    file = open('open', 'w+b', buffering=0)
    os.unlink('open')
    file.write(MIB)
    kept.append(file)
time.sleep(100)
";
        let mapped = "
kept = []
for number in numbers():
    file = os.open('mapped', os.O_RDWR | os.O_CREAT | os.O_EXCL)
    os.unlink('mapped')
    os.ftruncate(file, 1 << 20)
    memory = mmap.mmap(file, 1 << 20)
    os.close(file)
    memory[:] = MIB
    kept.append(memory)
time.sleep(100)
";
        for script in [open, mapped] {
            let output = python(&world, &format!("{ENDLESS}{script}"));
            assert_ended(&world, &output, "disk_mb");
        }
    });
}

#[test]
fn files_in_a_folder_that_cannot_be_read_count() {
    World::each(|mut world| {
        world.confinement.limits.disk_mb = 64;
        let script = "
os.mkdir('folder')
files = [open('folder/' + str(number), 'wb', buffering=0) for number in range(400)]
os.mkdir('closed', 0)
try:
    os.chmod('folder', 0)
except OSError:
    pass
for number in numbers(400):
    files[number].write(MIB)
time.sleep(100)
";
        let output = python(&world, &format!("{ENDLESS}{script}"));
        fs::remove_dir_all(world.path("work")).ok();
        fs::create_dir_all(world.path("work")).unwrap();
        assert_ended(&world, &output, "disk_mb");
    });
}

#[test]
fn empty_files_and_links_are_counted() {
    World::each(|mut world| {
        world.confinement.limits.disk_files = 5_000;
        let empty = "
for number in range(100000):
    open('file' + str(number), 'w').close()
    number % 100 or time.sleep(0.005)
time.sleep(100)
";
        let output = python(&world, &format!("{ENDLESS}{empty}"));
        assert_ended(&world, &output, "disk_files");
        assert!(fs::read_dir(world.path("work")).unwrap().count() < 100_000);
    });
}

#[test]
fn deep_folders_hide_nothing() {
    World::each(|world| {
        let script = "
for number in numbers(400):
    os.mkdir('a')
    os.chdir('a')
time.sleep(100)
";
        let output = python(&world, &format!("{ENDLESS}{script}"));
        let shown = text(&output);
        assert_eq!(output.status.code(), Some(123), "{shown}");
        assert!(shown.contains("deep"), "{shown}");
        // The next program says why it cannot be bounded.
        let output = world.run("true", &[]);
        let shown = text(&output);
        assert_eq!(output.status.code(), Some(125), "{shown}");
        assert!(shown.contains("cannot be bounded"), "{shown}");
    });
}

#[test]
fn what_was_there_before_is_free() {
    World::each(|mut world| {
        fs::create_dir(world.path("work/old")).unwrap();
        world.own("work/old");
        for number in 0..40 {
            let file = world.path(&format!("work/old/large{number}"));
            fs::write(&file, vec![1_u8; 1 << 20]).unwrap();
        }
        for number in 0..3_000 {
            fs::write(world.path(&format!("work/old/{number}")), "").unwrap();
        }
        world.own("work/old");
        world.confinement.limits.disk_mb = 24;
        world.confinement.limits.disk_files = 100;
        // Writes as often as it is looked at, and removes what it has written.
        let script = "
for number in numbers(150):
    open('new' + str(number % 10), 'wb').write(MIB)
print('done')
";
        let output = python(&world, &format!("{ENDLESS}{script}"));
        let shown = text(&output);
        assert!(output.status.success() && shown.contains("done"), "{shown}");
    });
}

#[test]
fn memory_of_many_processes_and_without_names_is_bounded_together() {
    World::each(|mut world| {
        world.confinement.limits.memory_mb = 128;
        world.confinement.limits.disk_mb = 4_096;
        let pieces = "
import signal, sys
children = []
for number in range(40):
    child = os.fork()
    if child == 0:
        piece = bytearray(os.urandom(1 << 20) * 12)
        signal.pause()
    children.append(child)
    time.sleep(0.03)
for _ in range(1000):
    time.sleep(0.1)
    if any(os.waitpid(child, os.WNOHANG)[0] for child in children):
        sys.exit(137)
";
        let unnamed = "
kept = []
for number in numbers(400):
    file = os.memfd_create('piece')
    os.write(file, MIB)
    kept.append(file)
time.sleep(100)
";
        let shared = "
kept = []
for number in numbers(400):
    memory = mmap.mmap(-1, 1 << 20)
    memory[:] = MIB
    kept.append(memory)
time.sleep(100)
";
        for script in [pieces, unnamed, shared] {
            let output = python(&world, &format!("{ENDLESS}{script}"));
            // A control group ends one process or all with a signal; without one, the supervisor ends all.
            let shown = text(&output);
            match output.status.code() {
                Some(123) => assert_ended(&world, &output, "memory_mb"),
                code => assert_eq!(code, Some(137), "{shown}"),
            }
        }
    });
}

#[test]
fn memory_that_processes_share_counts_once() {
    World::each(|mut world| {
        world.confinement.limits.memory_mb = 256;
        let script = "
piece = bytearray(os.urandom(1 << 20) * 60)
shared = mmap.mmap(-1, 60 << 20)
shared[:] = bytes(60 << 20)
children = []
for number in range(8):
    child = os.fork()
    if child == 0:
        assert sum(piece[::4096]) and not sum(shared[::4096])
        time.sleep(1)
        os._exit(0)
    children.append(child)
print([os.waitpid(child, 0)[1] for child in children])
";
        let output = python(&world, &format!("{ENDLESS}{script}"));
        let shown = text(&output);
        assert!(output.status.success() && shown.contains("[0, 0, 0, 0, 0, 0, 0, 0]"), "{shown}");
    });
}

#[test]
fn private_file_systems_in_memory_have_a_size() {
    World::each(|mut world| {
        world.confinement.limits.memory_mb = 64;
        world.confinement.limits.file_mb = 16;
        let script = "
for folder in ['/dev/shm', '/dev', '/tmp', '/']:
    written = 0
    try:
        for number in range(200):
            open(folder + '/file' + str(number), 'wb').write(MIB)
            written += 1
    except OSError:
        pass
    for number in range(written + 1):
        try:
            os.unlink(folder + '/file' + str(number))
        except OSError:
            pass
    print(folder, written)
";
        let output = python(&world, &format!("{ENDLESS}{script}"));
        let shown = text(&output);
        let expected = if world.has_namespaces() {
            "/dev/shm 64\n/dev 0\n/tmp 16\n/ 0\n"
        } else {
            "/dev/shm 0\n/dev 0\n/tmp 0\n/ 0\n"
        };
        // A control group ends it before the file system is full.
        let is_ended = output.status.code() == Some(137);
        assert!(is_ended || String::from_utf8_lossy(&output.stdout) == expected, "{shown}");
    });
}
