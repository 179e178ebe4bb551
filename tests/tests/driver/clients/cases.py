"""What programs do with device descriptors, and what the kernel would answer. Run as `cases.py CASE`."""

import ctypes
import errno
import fcntl
import mmap
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time

NODE = "/dev/neuron0"
SKIP = 77
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]
libc.syscall.restype = ctypes.c_long


def name(result):
    """A C library result: the value, or the name of the errno."""
    return errno.errorcode[ctypes.get_errno()] if result == -1 else result


def tried(call):
    """A Python call's value, or the name of its errno."""
    try:
        return call()
    except OSError as error:
        return errno.errorcode[error.errno]


def equal(found, expected, what=""):
    if found != expected:
        sys.exit(f"{what}: {found!r}, expected {expected!r}")


def full(path=NODE, flags=os.O_RDWR | os.O_CLOEXEC):
    return os.open(path, flags)


def misc(flags=os.O_CLOEXEC):
    return os.open(NODE, os.O_WRONLY | flags)


def request(fd, value, record):
    buffer = (ctypes.c_char * len(record)).from_buffer(record)
    return name(libc.ioctl(fd, value, ctypes.addressof(buffer)))


def works(fd):
    """A misc request, which every open descriptor serves."""
    return request(fd, 0x40084E5D, bytearray(8))


def claim(fd, count=8, first=0, last=7):
    return request(fd, 0xC0504E55, bytearray(struct.pack("<IIII8Q", count, first, last, 0, *[0] * 8)))


def unclaim(fd, bits=0xFF):
    return request(fd, 0x40504E56, bytearray(struct.pack("<IIII8Q", 0, 0, 0, 0, bits, *[0] * 7)))


def alloc(fd, size, kind=9, channel=0):
    out = ctypes.c_uint64()
    record = struct.pack("<QQIIIIIIQII", size, 0, 0, channel, 0, 0, kind, 0, ctypes.addressof(out), 0, 0)
    result = request(fd, 0x80384E66, bytearray(record))
    return out.value if result == 0 else result


def free(fd, handle):
    return request(fd, 0x80084E16, bytearray(struct.pack("<Q", handle)))


def address(fd, handle):
    out = ctypes.c_uint64()
    equal(request(fd, 0x80084E19, bytearray(struct.pack("<QQ", handle, ctypes.addressof(out)))), 0, "GET_PA")
    return out.value


def map_(fd, length, offset, flags=mmap.MAP_SHARED, at=0):
    ctypes.set_errno(0)
    result = libc.mmap(at, length, mmap.PROT_READ | mmap.PROT_WRITE, flags, fd, offset)
    return name(-1) if result == ctypes.c_void_p(-1).value else result


def unmap(at, length):
    return name(libc.munmap(at, length))


def child(body):
    """Runs `body` in a child that leaves without cleaning up; its id."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(body() or 0)
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(99)
    return pid


def ended(pid):
    """Waits for a child that must end well."""
    equal(os.waitpid(pid, 0)[1], 0, "child")


def reaped():
    """When a child is reaped, its cores and its memory are free (driver-abi.md §11, §20 L6)."""
    lane, device = misc(), full()
    for at in range(80):
        def hold():
            equal(claim(misc()), 0, "the child's claim")
            equal(type(alloc(full(), 20 << 30)), int, "the child's memory")
            if at % 2:
                os.kill(os.getpid(), signal.SIGKILL)
        pid = child(hold)
        equal(os.waitpid(pid, 0)[1], 9 if at % 2 else 0, "child")
        equal(claim(lane), 0, f"claim after child {at}")
        handle = alloc(device, 20 << 30)
        equal(type(handle), int, f"memory after child {at}: {handle}")
        equal((free(device, handle), unclaim(lane)), (0, 0))
    os.close(device)


def thread_ids():
    """A child whose id was a thread's of its parent is another process."""
    def next_id(number):
        with open("/proc/sys/kernel/ns_last_pid", "w") as file:
            file.write(str(number - 1))
    old = []
    def thread():
        old.append(threading.get_native_id())
        os.stat("/")
    runner = threading.Thread(target=thread)
    runner.start()
    runner.join()
    inherited = full(flags=os.O_RDWR)
    out = (ctypes.c_uint32 * 2)()
    def body():
        if os.getpid() != old[0]:
            return SKIP
        equal(libc.ioctl(inherited, 0x40084E5D, ctypes.addressof(out)), 0, "request")
        equal(out[1] > 0, True, "the child's memory")
        equal(claim(misc()), 0, "claim")
    for _ in range(100):
        try:
            next_id(old[0])
        except OSError as error:
            print("cannot choose process ids:", error, file=sys.stderr)
            sys.exit(SKIP)
        status = os.waitpid(child(body), 0)[1]
        if status == 0:
            break
        equal(status, SKIP << 8, "child")
    else:
        print("nobody got the thread's id", file=sys.stderr)
        sys.exit(SKIP)
    equal(list(out), [0, 0], "the parent's memory")
    equal(claim(misc()), 0, "claim after the child")


def exec_():
    """`exec` closes what is close-on-exec, also while other threads make calls."""
    for _ in range(20):
        told, teller = os.pipe()
        going, stop = os.pipe()
        def body():
            lane, device = misc(), full()
            equal(claim(lane), 0, "claim")
            def spam():
                while True:
                    os.stat("/etc/passwd")
            for _ in range(3):
                threading.Thread(target=spam, daemon=True).start()
            time.sleep(0.002)
            os.dup2(going, 0)
            os.execv("/bin/cat", ["cat"])
        pid = child(body)
        os.close(teller)
        os.close(going)
        # The write end is close-on-exec: its end says that the program has changed.
        equal(os.read(told, 1), b"")
        lane = misc()
        equal(claim(lane), 0, "claim after exec")
        os.close(lane)
        os.close(stop)
        os.close(told)
        ended(pid)


def inherited():
    """A child has its parent's descriptors even if the parent closes them first (§12.3)."""
    lane, device = misc(0), full(flags=os.O_RDWR)
    going, go = os.pipe()
    def body():
        os.read(going, 1)
        equal((works(lane), works(device)), (0, 0), "after the parent's close")
    pid = child(body)
    os.close(lane)
    os.close(device)
    os.write(go, b"x")
    ended(pid)


def daemon():
    """A daemon keeps what the processes before it opened."""
    told, teller = os.pipe()
    def first():
        lane = misc(0)
        def second():
            os.setsid()
            def third():
                time.sleep(0.1)
                os.write(teller, str((works(lane), claim(lane))).encode())
            child(third)
        child(second)
    ended(child(first))
    os.close(teller)
    equal(os.read(told, 100), b"(0, 0)", "daemon")
    os.read(told, 1)


def passed():
    """A descriptor on its way through a socket outlives its sender."""
    ours, theirs = socket.socketpair()
    def body():
        socket.send_fds(theirs, [b"x"], [misc(0), full(flags=os.O_RDWR)])
    ended(child(body))
    _, fds, _, _ = socket.recv_fds(ours, 1, 4)
    equal([works(fd) for fd in fds], [0, 0], "after the sender's end")


def maps():
    """Everything that is mapped is unmapped: nothing is left to complain about."""
    device = full()
    handles = [alloc(device, 1 << 20) for _ in range(2)]
    places = sorted(address(device, handle) for handle in handles)
    equal(places[1] - places[0], 1 << 20, "blocks that touch")
    # The kernel makes one area of mappings that touch.
    upper = map_(device, 1 << 20, places[1])
    lower = map_(device, 1 << 20, places[0], mmap.MAP_SHARED | 0x100000, upper - (1 << 20))
    equal(lower, upper - (1 << 20), "mappings that touch")
    equal((unmap(upper, 1 << 20), unmap(lower, 1 << 20)), (0, 0))
    # What the kernel refuses was never mapped.
    page, place = mmap.PAGESIZE, places[0]
    equal(map_(device, 1 << 20, place, mmap.MAP_SHARED | mmap.MAP_FIXED if hasattr(mmap, "MAP_FIXED") else 0x11, 4097), "EINVAL")
    equal(map_(device, 1 << 20, place, 0), "EINVAL", "no kind")
    equal(map_(device, 0, place), "EINVAL", "no length")
    equal(map_(device, 1 << 20, place + 1), "EINVAL", "odd offset")
    taken = libc.mmap(0, page, 3, 0x22, -1, 0)
    equal(map_(device, 1 << 20, place, 0x100001, taken), "EEXIST")
    big = alloc(device, 1 << 30, channel=1)
    resource.setrlimit(resource.RLIMIT_AS, (300 << 20, resource.RLIM_INFINITY))
    equal(map_(device, 1 << 30, address(device, big)), "ENOMEM")
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    # Something else takes the place of a mapping.
    at = map_(device, 1 << 20, place)
    equal(libc.mmap(at, 1 << 20, 3, 0x32, -1, 0), at)
    for handle in [*handles, big]:
        equal(free(device, handle), 0)
    os.close(device)


def scratchpad_maps():
    """A mapping from a page of a scratchpad ends inside the main pool, however long it is."""
    device = full()
    handle = alloc(device, 64 << 20, kind=19)
    place = address(device, handle)
    for length in [(1 << 64) - 4096, (1 << 64) - 1, (1 << 64) - (64 << 20), 1 << 63]:
        equal(map_(device, length, place), "ENOMEM", hex(length))
    for length in [(64 << 20) + 1, 128 << 20, 1 << 45]:
        equal(map_(device, length, place), "EPERM", hex(length))
    equal(free(device, handle), 0)
    os.close(device)


def duplicates():
    """Calls that fail, and a number duplicated onto itself, close nothing."""
    device, lane = full(), misc()
    libc.dup2.argtypes = [ctypes.c_int] * 2
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    equal(name(libc.dup2(999, device)), "EBADF")
    equal(libc.dup2(device, device), device)
    equal(name(libc.dup3(device, device, 0)), "EINVAL")
    equal(name(libc.dup3(device, 50, 12345)), "EINVAL")
    for number in [-1, limit, 1 << 30]:
        equal(name(libc.dup2(lane, number)), "EBADF", f"onto {number}")
        equal(name(libc.dup2(0, number)), "EBADF", f"onto {number}")
    equal(tried(lambda: fcntl.fcntl(device, fcntl.F_DUPFD, limit)), "EINVAL")
    equal(name(libc.close_range(device, 0, 0)), "EINVAL")
    equal(name(libc.close_range(device, device, 0x80)), "EINVAL")
    equal((works(device), works(lane)), (0, 0), "after all that")
    handle = alloc(device, 4096)
    equal(free(device, handle), 0, "attached")
    # A misc descriptor may be duplicated; any close gives the cores back (§2.5).
    copy, other = os.dup(lane), fcntl.fcntl(lane, fcntl.F_DUPFD, 60)
    equal((copy > lane, other >= 60, works(copy), works(other)), (True, True, 0, 0))
    equal(claim(copy), 0)
    os.close(other)
    ended(child(lambda: equal(claim(misc()), 0, "after the duplicate's close")))
    os.dup2(copy, 70)
    os.close(lane)
    os.close(copy)
    equal((works(70), tried(lambda: os.fstat(lane))), (0, "EBADF"))
    os.close(70)
    os.close(device)


def operations():
    """The node has no read, write or seek (§2.1); nothing of the kind reaches the memory."""
    device, lane = full(), misc()
    handle = alloc(device, 1 << 20)
    place = address(device, handle)
    at = map_(device, 1 << 20, place)
    ctypes.memmove(at, b"mine", 4)
    equal(tried(lambda: os.read(device, 8)), b"", "read")
    equal(tried(lambda: os.write(device, b"x")), "EPERM", "write")
    equal(tried(lambda: os.write(lane, b"x")), "EPERM", "write")
    equal(tried(lambda: os.pread(device, 4, place)), "EINVAL", "pread")
    equal(tried(lambda: os.pwrite(device, b"x", place)), "EINVAL", "pwrite")
    equal(tried(lambda: os.preadv(device, [bytearray(4)], place)), "EINVAL", "preadv")
    equal(tried(lambda: os.pwritev(device, [b"x"], place)), "EINVAL", "pwritev")
    equal(tried(lambda: os.lseek(device, 0, os.SEEK_SET)), "ESPIPE", "lseek")
    equal(tried(lambda: os.ftruncate(device, 0)), "EINVAL", "ftruncate")
    equal(tried(lambda: os.posix_fallocate(device, 0, 4096)), "ENODEV", "fallocate")
    # Not even through the file system.
    equal(tried(lambda: os.truncate(f"/proc/self/fd/{device}", 0)), "EPERM", "truncate")
    equal(ctypes.string_at(at, 4), b"mine")
    for fd in [device, lane]:
        opened, node = os.fstat(fd), os.stat(NODE)
        equal((stat.S_ISCHR(opened.st_mode), opened.st_rdev), (True, node.st_rdev), "fstat")
    equal((unmap(at, 1 << 20), free(device, handle), works(device)), (0, 0, 0))
    os.close(device)
    # What a shell does.
    equal(subprocess.run(["sh", "-c", f"cat {NODE}; echo x > {NODE}"], capture_output=True).stdout, b"")


def paths():
    """The same node by other names, and names that are none."""
    here = os.open("/dev", os.O_RDONLY | os.O_DIRECTORY)
    os.chdir("/dev")
    for path in ["neuron0", "./neuron0", "//dev/neuron0", "/dev/../dev/neuron0", "/dev//neuron0", "../dev/neuron0"]:
        fd = tried(lambda: os.open(path, os.O_WRONLY))
        equal(type(fd), int, f"{path}: {fd}")
        equal((works(fd), stat.S_ISCHR(os.stat(path).st_mode)), (0, True), path)
        os.close(fd)
    os.chdir("/")
    fd = os.open("neuron0", os.O_WRONLY, dir_fd=here)
    equal((works(fd), os.access("neuron0", os.F_OK, dir_fd=here)), (0, True))
    os.close(fd)
    for path in ["/dev/neuron00", "/dev/neuron+0", "/dev/neuron1", "/dev/neuron-0", "/dev/neuron"]:
        equal(tried(lambda: os.open(path, os.O_WRONLY)), "ENOENT", path)
    equal(tried(lambda: os.open(NODE + "/", os.O_WRONLY)), "ENOTDIR")
    equal(tried(lambda: os.open(NODE, os.O_WRONLY | os.O_CREAT | os.O_EXCL)), "EEXIST")
    equal(tried(lambda: os.open(NODE, os.O_RDONLY | os.O_DIRECTORY)), "ENOTDIR")
    equal(tried(lambda: os.open(NODE, os.O_PATH)), "ENOENT", "O_PATH: docs/DEVICES.md")
    lane = libc.creat(NODE.encode(), 0o600)
    equal(works(lane), 0, "creat")
    os.close(lane)
    how = ctypes.create_string_buffer(struct.pack("<QQQ", os.O_WRONLY | os.O_CLOEXEC, 0, 0))
    lane = libc.syscall(437, -100, NODE.encode(), how, ctypes.c_size_t(24))
    equal(works(lane), 0, "openat2")
    os.close(lane)
    equal(name(libc.syscall(437, -100, NODE.encode(), how, ctypes.c_size_t(8))), "EINVAL")
    first = os.open(NODE, os.O_WRONLY)
    for path in ["/proc/self/fd/{}", "/dev/fd/{}", "/proc/thread-self/fd/{}", f"/proc/{os.getpid()}/fd/{{}}"]:
        again = os.open(path.format(first), os.O_RDWR)
        equal((works(again), tried(lambda: os.pread(again, 8, 0))), (0, "EINVAL"), path)
        os.close(again)
        equal(works(first), 0, path)
    again = os.open(f"/proc/self/fd/{first}", os.O_WRONLY)
    os.close(first)
    equal(works(again), 0, "the first one closed")
    os.close(again)
    with open("/proc/self/exe", "rb") as plain, open(f"/proc/self/fd/{plain.fileno()}", "rb") as same:
        equal(same.read(4), b"\x7fELF")


def crowd():
    """More processes than the supervisor has descriptors for: whoever gets in leaves nothing behind."""
    going, go = os.pipe()
    results = []
    for at in range(80):
        def body():
            device = tried(full)
            if device == "ENFILE":
                return SKIP
            equal(type(device) is int or device == "EBUSY", True, f"open: {device}")
            lane = tried(misc)
            if type(lane) is int:
                claim(lane, 1, at % 8, at % 8)
            os.read(going, 1)
        results.append(child(body))
    time.sleep(0.3)
    os.write(go, b"x" * 80)
    refused = [os.waitpid(pid, 0)[1] for pid in results]
    equal(set(refused) <= {0, SKIP << 8}, True, f"children: {set(refused)}")
    equal(SKIP << 8 in refused, True, "the limit was not met")
    deadline = time.time() + 5
    while (lane := tried(misc)) == "ENFILE" and time.time() < deadline:
        time.sleep(0.01)
    equal(claim(lane), 0, "cores after all have ended")


def disturbed():
    """Loads while somebody frees one of their blocks; prints what they say."""
    tool, file = sys.argv[2:]
    device = full()
    command = [tool, "load", "-q", "--device", NODE, "--allow-opaque", file]
    for at in range(24):
        load = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        deadline = time.time() + 0.01 * (at + 1)
        while time.time() < deadline and load.poll() is None:
            time.sleep(0.0005)
        freed = free(device, 2 + at)
        said = load.communicate()[0].decode()
        equal(load.returncode in (0, 1), True, said)
        print(freed, load.returncode, said)
    os.close(device)


globals()[sys.argv[1]]()
