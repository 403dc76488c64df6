//! Ordinary programs work.

use std::fs;

use crate::world::{World, can_run, text};

fn check(world: &World, program: &str, arguments: &[&str], expected: &str) {
    let output = world.run(program, arguments);
    let shown = text(&output);
    assert!(output.status.success() && shown.contains(expected), "{program} {arguments:?}: {shown}");
}

#[test]
fn shells_and_text_tools_work() {
    World::each(|world| {
        let script = "set -o pipefail; mkdir -p a/b; seq 1000 | sort -r | head -3 | tr '\\n' ' '; cp /etc/passwd a/b/p; mv a/b/p a/q; \
                      ln -s q a/l; ls -lR a | wc -l; find . -name q; tar cf t.tar a; grep -c root a/q; df . | tail -1; \
                      awk 'END {print NR}' a/q; sed -n 1p a/q; date; id -u; rm -r a; x=$(mktemp); echo \"$x\"; diff <(echo 1) <(echo 1)";
        // The last command needs the descriptors of a shell below `/proc`, which only a private one shows.
        let script = if world.has_namespaces() {
            script.to_owned()
        } else {
            script.replace("; diff <(echo 1) <(echo 1)", "")
        };
        check(&world, "bash", &["-c", &script], "999 998 997");
        if world.has_namespaces() {
            let script = "touch f; chmod 751 f; touch -d 2020-01-01 f; cp -p f g; stat -c '%a %Y' g";
            check(&world, "bash", &["-ec", script], "751 1577836800");
        }
    });
}

#[test]
fn python_works_with_processes_threads_and_pipes() {
    World::each(|world| {
        let script = "
import asyncio, hashlib, json, subprocess, tempfile, threading
print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout)
t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()
async def main():
    p = await asyncio.create_subprocess_exec('echo', 'async'); await p.wait()
asyncio.run(main())
with tempfile.NamedTemporaryFile() as f: f.write(b'x')
import multiprocessing
if __name__ == '__main__':
    c = multiprocessing.get_context('fork')
    p = c.Process(target=print, args=('process',)); p.start(); p.join(); print('all', p.exitcode)
";
        check(&world, "python3", &["-c", script], "all 0");
    });
}

#[test]
fn git_works() {
    World::each(|world| {
        let identity = "-c user.name=a -c user.email=a@b -c init.defaultBranch=main -c safe.directory=*";
        let script = format!(
            "git {identity} init -q r && cd r && echo one > f && git add f && git {identity} commit -qm first && echo two >> f && \
             git diff --stat && git {identity} commit -qam second && git log --oneline | wc -l && git status --short && \
             git clone -q . ../clone && cat ../clone/f"
        );
        // Without namespaces, the modes of files cannot be changed, which `git` insists on.
        if world.has_namespaces() {
            check(&world, "bash", &["-c", &script], "two");
        } else {
            check(&world, "git", &["--version"], "git version");
        }
    });
}

#[test]
fn a_compiler_works() {
    if !can_run("gcc") {
        return;
    }
    World::each(|world| {
        // A linker makes its output executable, which needs namespaces.
        if world.has_namespaces() {
            let source = "#include <stdio.h>\nint main(void){puts(\"compiled\");return 0;}";
            fs::write(world.path("work/a.c"), source).unwrap();
            check(&world, "sh", &["-c", "gcc -O1 -o a a.c && ./a"], "compiled");
        }
    });
}

#[test]
fn node_works() {
    if !can_run("node") {
        return;
    }
    World::each(|world| {
        let script = "const c=require('child_process');require('fs').writeFileSync('n','1');\
                      console.log(c.execSync('echo from-child').toString());setTimeout(()=>console.log('timer'),1)";
        check(&world, "node", &["-e", script], "timer");
    });
}

#[test]
fn java_works() {
    if !can_run("java") {
        return;
    }
    World::each(|world| check(&world, "java", &["-version"], "version"));
}
