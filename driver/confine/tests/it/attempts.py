"""Tries to leave the sandbox. Prints what each attempt led to as JSON: an error name, or "done" with what it got."""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import signal
import socket
import stat
import sys

targets = json.loads(sys.argv[1])
outside, work = targets["outside"], targets["work"]
victim, tester = targets["victim"], targets["tester"]
libc = ctypes.CDLL(None, use_errno=True)
results = {}


def attempt(name, action):
    try:
        got = action()
        results[name] = "done: %r" % (got,)
    except OSError as error:
        results[name] = errno.errorcode.get(error.errno, str(error))


def call(number, *arguments):
    ctypes.set_errno(0)
    libc.syscall.restype = ctypes.c_long
    arguments = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def read(path):
    with open(path, "rb") as file:
        return file.read(100)


def write(path):
    with open(path, "a") as file:
        file.write("changed")


def connect(kind, address):
    with socket.socket(socket.AF_UNIX, kind) as end:
        end.connect(address)
        end.send(b"hello")


def through_a_pair(address):
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    first.sendto(b"hello", address)


def over_the_network():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as end:
        end.connect(("127.0.0.1", targets["port"]))


def foreign_processes():
    own = {os.getpid(), os.getppid()}
    seen = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in own:
            seen.append(read("/proc/%s/cmdline" % name))
    if not [line for line in seen if b"bwrap" not in line]:
        raise OSError(errno.ENOENT, "none")
    return seen


def signal_by_a_descriptor():
    descriptor = os.pidfd_open(victim)
    try:
        signal.pidfd_send_signal(descriptor, signal.SIGTERM)
    finally:
        os.close(descriptor)


def thirty_two_bits():
    child = os.fork()
    if child == 0:
        # `mov eax, 20; int 0x80; ret`: the number of the process, by the calls of 32-bit programs.
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(bytes.fromhex("b814000000cd80c3"))
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
        os._exit(0)
    if os.WIFSIGNALED(os.waitpid(child, 0)[1]):
        raise OSError(errno.EPERM, "the program is ended")


secret = outside + "/secret"
attempt("read", lambda: read(secret))
attempt("list", lambda: os.listdir(outside))
attempt("write", lambda: write(secret))
attempt("create", lambda: write(outside + "/new"))
attempt("make a folder", lambda: os.mkdir(outside + "/folder"))
attempt("remove", lambda: os.unlink(secret))
attempt("rename", lambda: os.rename(secret, outside + "/renamed"))
attempt("move out", lambda: os.rename(work + "/own", outside + "/moved"))
attempt("truncate", lambda: os.truncate(secret, 0))
attempt("hard link", lambda: os.link(secret, work + "/hard"))
os.symlink(secret, work + "/soft")
attempt("symbolic link", lambda: read(work + "/soft"))
attempt("above", lambda: read(work + "/../outside/secret"))
attempt("password hashes", lambda: read("/etc/shadow"))
attempt("system folder", lambda: write("/etc/deskhand-test-file"))
attempt("device", lambda: read("/dev/kmsg"))
attempt("mode", lambda: os.chmod(secret, 0o666))
attempt("mode of a folder", lambda: os.chmod(outside, 0o777))
attempt("owner", lambda: os.chown(secret, os.getuid(), os.getgid()))
attempt("times", lambda: os.utime(secret, (1, 1)))
attempt("attribute", lambda: os.setxattr(secret, "user.test", b"1"))
attempt("attribute removed", lambda: os.removexattr(secret, "user.kept"))
attempt("unix socket", lambda: connect(socket.SOCK_STREAM, outside + "/socket"))
attempt("unix socket in the folder", lambda: connect(socket.SOCK_STREAM, work + "/socket"))
attempt("datagram", lambda: through_a_pair(work + "/datagram"))
attempt("abstract socket", lambda: connect(socket.SOCK_STREAM, "\0" + targets["abstract"]))
attempt("abstract datagram", lambda: through_a_pair("\0" + targets["abstract"] + "-datagram"))
attempt("display", lambda: connect(socket.SOCK_STREAM, targets["display"]))
attempt("session bus", lambda: connect(socket.SOCK_STREAM, targets["bus"]))
attempt("network", over_the_network)
attempt("signal", lambda: os.kill(victim, signal.SIGTERM))
attempt("signal of a group", lambda: os.killpg(victim, signal.SIGTERM))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, victim, 15))
attempt("affinity", lambda: os.sched_setaffinity(victim, {0}))
attempt("limits", lambda: call(targets["calls"]["prlimit64"], victim, 7, (ctypes.c_uint64 * 2)(9, 9), 0))
attempt("ptrace", lambda: call(targets["calls"]["ptrace"], 16, victim, 0, 0))
attempt("memory", lambda: call(targets["calls"]["process_vm_readv"], victim, 0, 0, 0, 0, 0))
attempt("descriptor", lambda: call(targets["calls"]["pidfd_getfd"], 0, 0, 0))
attempt("environment of the tester", lambda: read("/proc/%d/environ" % tester))
attempt("environment of the victim", lambda: read("/proc/%d/environ" % victim))
attempt("environment of the parent", lambda: read("/proc/%d/environ" % os.getppid()) or None)
attempt("arguments of the victim", lambda: read("/proc/%d/cmdline" % victim))
attempt("root of the victim", lambda: os.listdir("/proc/%d/root/" % victim))
attempt("memory of the victim", lambda: read("/proc/%d/mem" % victim))
attempt("foreign processes", foreign_processes)
for flag in ["NEWUSER", "NEWNET", "NEWNS", "NEWPID"]:
    attempt("unshare " + flag, lambda: call(targets["calls"]["unshare"], targets["flags"][flag]))
    attempt("clone " + flag, lambda: call(targets["calls"]["clone"], targets["flags"][flag] | signal.SIGCHLD, 0, 0, 0, 0))
attempt("clone3", lambda: call(targets["calls"]["clone3"], 0, 0))
for name, number in sorted(targets["refused_calls"].items()):
    attempt("call " + name, lambda: call(number, 0, 0, 0, 0, 0))
if targets["x32"]:
    attempt("call x32 getpid", lambda: call(0x40000000 | 39))
    attempt("call x32 unshare", lambda: call(0x40000000 | targets["calls"]["unshare"], targets["flags"]["NEWUSER"]))
    attempt("call x32 io_uring_setup", lambda: call(0x40000000 | targets["refused_calls"]["io_uring_setup"], 1, 0))
    attempt("32-bit call", thirty_two_bits)
attempt("signal of a thread", lambda: call(targets["calls"]["tgkill"], victim, victim, signal.SIGTERM))
attempt("queued signal", lambda: call(targets["calls"]["rt_sigqueueinfo"], victim, signal.SIGTERM, bytes(128)))
attempt("signal by a descriptor", signal_by_a_descriptor)
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("virtual machine socket", lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
attempt("cryptography of the kernel", lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET))
attempt("input of a terminal", lambda: fcntl.ioctl(0, 0x5412, b"x"))
attempt("device node", lambda: os.mknod(work + "/node", 0o600 | stat.S_IFBLK, os.makedev(8, 0)))
attempt("kernel setting", lambda: write("/proc/sys/kernel/hostname"))
for folder in ["", "/pids", "/memory", "/unified"]:
    attempt("control group" + folder, lambda: write("/sys/fs/cgroup" + folder + "/cgroup.procs"))
attempt("shared memory with a name", lambda: write("/dev/shm/" + targets["shared"]))
attempt("system v memory", lambda: call(targets["calls"]["shmget"], targets["key"], 0, 0))

status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
kept = {name: status[name].strip() for name in ["CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"]}
listed = [name for name in os.listdir("/proc/self/fd") if int(name) > 2]
descriptors = [os.readlink("/proc/self/fd/" + name) for name in listed if os.path.lexists("/proc/self/fd/" + name)]
print(json.dumps({"attempts": results, "status": kept, "descriptors": descriptors}))
