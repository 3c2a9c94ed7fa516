package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Commands;

/** Permissions, and other rules that programs expect of a local file system, through one mount. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PosixRulesTest {
    private static final String AS_1000 = "setpriv --reuid=1000 --regid=1000 --clear-groups ";

    private MountedVolume volume;
    /** A folder in the mount for each test. */
    private Path in;

    @BeforeAll
    void mount(@TempDir Path folder) throws IOException {
        volume = MountedVolume.makeWith(folder.resolve("rules"), "--memory-budget=256MB")
                .mount();
        // Other users walk through it.
        for (Path at = volume.mountPoint(); at.startsWith(folder); at = at.getParent()) {
            Files.setPosixFilePermissions(at, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    @AfterAll
    void unmount() throws IOException {
        if (volume != null) {
            volume.close();
        }
    }

    @BeforeEach
    void ownFolder(TestInfo test) throws IOException {
        in = Files.createDirectory(
                volume.mountPoint().resolve(test.getTestMethod().orElseThrow().getName()));
        Files.setPosixFilePermissions(in, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    private static void assumeInstalled(String program) throws IOException {
        assumeTrue(Commands.run("sh", "-c", "command -v " + program).exitCode() == 0, "needs " + program);
    }

    /** The output of a shell command in the test's folder, lines joined by blanks. */
    private String shell(String script) throws IOException {
        Commands.Result result =
                Commands.run(Map.of("LC_ALL", "C"), Commands.words("sh", "-c", "cd " + in + "; " + script));
        return String.join(" ", result.output().strip().split("\\s+"));
    }

    private String python(String script) throws IOException {
        assumeInstalled("python3");
        Path file = Files.writeString(in.resolve("script.py"), script);
        String said = shell("python3 script.py");
        Files.delete(file);
        return said;
    }

    @Test
    void accessListsAreHonoured() throws IOException {
        assumeInstalled("setfacl");
        shell("echo text > f; chmod 600 f");
        assertNotEquals("text", shell(AS_1000 + "cat f"));
        assertEquals("text", shell("setfacl -m u:1000:r f; " + AS_1000 + "cat f"));
        assertEquals("640", shell("stat -c %a f"), "the mask stands for the group");
        assertNotEquals("text", shell("chmod 600 f; " + AS_1000 + "cat f"), "chmod sets the mask");
        assertEquals("text", shell("chmod 640 f; " + AS_1000 + "cat f"));
        assertEquals("", shell("setfacl -b f; getfattr -m - f"));
    }

    @Test
    void whoeverChangesAFileTakesItsPrivilegesAway() throws IOException {
        for (String change : new String[] {
            "echo x >> f", ": > f", "truncate -s 3 f", "dd if=/dev/zero of=f bs=4096 count=1 oflag=direct conv=notrunc"
        }) {
            shell("rm -f f; echo text > f; chmod 6777 f");
            assertEquals("777", shell(AS_1000 + "sh -c '" + change + "' 2> /dev/null; stat -c %a f"), change);
            shell("rm -f f; echo text > f; chmod 6777 f");
            assertEquals("6777", shell(change + " 2> /dev/null; stat -c %a f"), "root: " + change);
        }
        assertEquals("777", shell("chmod 6777 f; chown 5:5 f; stat -c %a f"));
    }

    @Test
    void setgidWithoutGroupExecuteStaysWithRootAndWithMembersOfTheGroup() throws IOException {
        assertEquals("2666", shell(": > f; chown 1000:2000 f; chmod 6666 f; chown 5 f; stat -c %a f"), "chown by root");
        String asMember = "setpriv --reuid=1000 --regid=1000 --groups=2000 ";
        String direct = "dd if=/dev/zero of=f bs=4096 count=1 oflag=direct conv=notrunc status=none";
        for (String change : new String[] {"truncate -s 3 f", direct, "chown 1000 f"}) {
            shell("rm -f f; : > f; chown 1000:2000 f; chmod 6666 f");
            assertEquals("2666", shell(asMember + change + "; stat -c %a f"), change);
            shell("rm -f f; : > f; chown 1000:2000 f; chmod 6666 f");
            assertEquals("666", shell(AS_1000 + change + "; stat -c %a f"), change);
        }
    }

    @Test
    void nobodyTakesTheSetuidBitOfAnothersProgramAway() throws IOException {
        String chown = python("""
                import os
                os.mkfifo('p'); open('f', 'w').close()
                for name in 'f', 'p': os.chmod(name, 0o6777)
                os.chown('p', -1, -1)
                os.seteuid(1000)
                try: os.chown('f', -1, -1)
                except PermissionError: print('refused')
                print([oct(os.stat(name).st_mode) for name in 'fp'])
                """);
        assertEquals("refused ['0o106777', '0o10777']", chown);
    }

    /** The volume sets the times of new names, the kernel those of files that are written. */
    @Test
    void nothingIsOlderThanWhatWasDoneBefore() throws IOException {
        String older = python("""
                import os
                def empty(name): open(name, 'w').close()
                def written(name): open(name, 'w').write('text')
                def truncated(name): open(name, 'r+').truncate(0)
                def linked(name): os.symlink('f', name)
                kinds = empty, os.mkdir, linked, os.utime, truncated
                done = []
                for i in range(200):
                    for kind in os.utime, truncated: written(f'{kind.__name__}{i}')
                    for kind in kinds:
                        for make in written, kind:
                            name = f'{make.__name__}{i}' + (kind.__name__ if make == written else '')
                            make(name)
                            done.append((name, kind.__name__))
                times = [os.lstat(name).st_mtime_ns for name, kind in done]
                print({kind for (name, kind), last, time in zip(done[1:], times, times[1:]) if time < last})
                """);
        assertEquals("set()", older);
    }

    @Test
    void makeFindsNothingToDoAfterItMadeAll() throws IOException {
        assumeInstalled("make");
        String rules = IntStream.range(1, 100)
                .mapToObj(i -> "f%d: f%d\n\t%s > $@\n".formatted(i, i - 1, i % 2 == 0 ? "echo text" : ":"))
                .collect(Collectors.joining("", "all: f99\n", ""));
        Files.writeString(in.resolve("Makefile"), rules);
        assertEquals("made nothing", shell("echo text > f0; make -s && echo made; make -q && echo nothing"));
    }

    /** Linux lets a process open more files than the volume has memory for. */
    @Test
    void aUserWhoOpensAllFilesLeavesSomeForOthers() throws IOException {
        assumeInstalled("python3");
        shell("echo text > f");
        Files.writeString(in.resolve("script.py"), """
                import errno, os, resource, subprocess
                resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
                other = "setpriv --reuid=1001 --regid=1001 --clear-groups cat f"
                os.seteuid(1000)
                files = []
                try:
                    while True: files.append(os.open('f', os.O_RDONLY))
                except OSError as e: print(errno.errorcode[e.errno])
                os.seteuid(0)
                print(subprocess.run(other, shell=True, capture_output=True).stdout.decode())
                print(open('f').read())
                """);
        assertEquals("ENFILE text text", shell("python3 script.py"));
    }

    /** Whoever may write a folder may set its attributes otherwise. */
    @Test
    void onlyItsOwnerPinsAFolder() throws IOException {
        String said = python("""
                import os
                os.mkdir('other'); os.chmod('other', 0o777)
                os.mkdir('own'); os.chown('own', 1000, 1000)
                os.seteuid(1000)
                for folder, value in ('own', b'pin'), ('other', b'sar'), ('other', b'pin'):
                    try: os.setxattr(folder, 'user.sdfs.tier', value)
                    except PermissionError: print('not', folder, value.decode())
                os.seteuid(0)
                os.setxattr('other', 'user.sdfs.tier', b'pin')
                print([os.getxattr(folder, 'user.sdfs.tier').decode() for folder in ('own', 'other')])
                """);
        assertEquals("not other pin ['pin', 'pin']", said);
    }

    @Test
    void fileHandlesAndListsOutliveARemount() throws IOException {
        assumeInstalled("setfacl");
        shell("echo text > f; chmod 600 f; setfacl -m u:1000:r f");
        String functions = """
                import ctypes, os, pickle, errno
                libc = ctypes.CDLL(None, use_errno=True)
                class Handle(ctypes.Structure):
                    _fields_ = [('bytes', ctypes.c_uint), ('type', ctypes.c_int), ('data', ctypes.c_ubyte * 128)]
                def handle(path):
                    made, mount = Handle(bytes=128), ctypes.c_int()
                    assert libc.name_to_handle_at(-100, path, ctypes.byref(made), ctypes.byref(mount), 0) == 0
                    return bytes(made)
                def read(handle):
                    fd = libc.open_by_handle_at(mount, ctypes.byref(Handle.from_buffer_copy(handle)), 0)
                    return os.read(fd, 10).decode() if fd >= 0 else errno.errorcode[ctypes.get_errno()]
                mount = os.open('.', 0)
                """;
        python(functions + """
                os.makedirs('a/b')
                for name in 'kept', 'removed': open('a/b/' + name, 'w').write(name)
                pickle.dump([handle(b'a/b/kept'), handle(b'a/b/removed')], open('handles', 'wb'))
                os.unlink('a/b/removed')
                """);
        String readAll = functions + "print([read(h) for h in pickle.load(open('handles', 'rb'))])";
        volume.dropKernelCaches();
        assertEquals("['kept', 'ESTALE']", python(readAll));
        volume.remount();
        assertEquals("['kept', 'ESTALE']", python(readAll));
        assertEquals("text", shell(AS_1000 + "cat f"));
    }

    /**
     * The kernel refuses an upper layer on FUSE that has no whiteouts, file types in listings or trusted attributes.
     */
    @Test
    void anOverlayHasItsUpperLayerHere() throws IOException {
        assumeTrue(Files.readString(Path.of("/proc/filesystems")).contains("overlay"), "needs overlayfs");
        String overlay = "trap 'cd ..; umount merged' EXIT; "
                + "mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged && cd merged && ";
        shell(
                "mkdir -p lower/folder upper work merged; for f in moved removed folder/kept; do echo low > lower/$f; done");
        assertEquals("", shell(overlay + "mv moved folder/arrived && rm removed && echo up >> folder/kept"));
        assertEquals("character special file 0:0 0", shell("stat -c '%F %t:%T %a' upper/moved"));
        volume.remount();
        String found = "folder folder/arrived folder/kept low low up";
        assertEquals(found, shell(overlay + "find * | sort; cat folder/arrived folder/kept"));
    }

    /**
     * While others read the file through the page cache. With the kernel's asynchronous direct requests, 3 % of these
     * bytes stayed old in the cache: it drops pages when such a write begins, not when it ends.
     */
    @Test
    void whatWasWrittenPastTheCacheIsReadThroughIt() throws IOException {
        assertEquals("16000 written 0 old", python("""
                import ctypes, mmap, os, random, struct, threading
                libc = ctypes.CDLL(None, use_errno=True)
                io_setup, io_getevents, io_submit = 206, 208, 209
                if os.uname().machine != "x86_64":
                    io_setup, io_getevents, io_submit = 0, 4, 2
                context = ctypes.c_uint64(0)
                assert libc.syscall(io_setup, 64, ctypes.byref(context)) == 0
                block, count = 4096, 64
                with open("f", "wb") as f:
                    f.write(bytes(block * count))
                direct, cached = os.open("f", os.O_RDWR | os.O_DIRECT), os.open("f", os.O_RDONLY)
                ended = False

                def read():
                    while not ended:
                        for i in range(count):
                            os.pread(cached, block, i * block)

                readers = [threading.Thread(target=read) for _ in range(3)]
                for reader in readers:
                    reader.start()
                buffers = [mmap.mmap(-1, block) for _ in range(16)]
                addresses = [ctypes.addressof(ctypes.c_char.from_buffer(buffer)) for buffer in buffers]
                events = (ctypes.c_uint64 * 4 * 16)()
                written = old = 0
                for turn in range(1, 1001):
                    places = random.sample(range(count), 16)
                    requests = []
                    for buffer, address, place in zip(buffers, addresses, places):
                        buffer[:] = struct.pack("<Q", turn) * (block // 8)
                        # struct iocb of a write.
                        requests.append(ctypes.create_string_buffer(
                            struct.pack("<QIIHhIQQqQII", 0, 0, 0, 1, 0, direct, address, block, place * block, 0, 0, 0)))
                    pointers = (ctypes.c_void_p * 16)(*[ctypes.addressof(request) for request in requests])
                    assert libc.syscall(io_submit, context, 16, pointers) == 16
                    done = 0
                    while done < 16:
                        done += libc.syscall(io_getevents, context, 1, 16 - done, ctypes.byref(events), None)
                    for place in places:
                        written += 1
                        old += struct.unpack("<Q", os.pread(cached, 8, place * block))[0] != turn
                ended = True
                for reader in readers:
                    reader.join()
                print(written, "written", old, "old")
                """));
    }

    @Test
    void locksExcludeEachOther() throws IOException {
        assertEquals("held 1", shell(": > f; flock f sh -c 'echo held; flock -n f true; echo $?'"));
        String said = python("""
                import errno, fcntl, os, struct
                first, second = (os.open('f', os.O_RDWR | os.O_CREAT) for i in range(2))
                def refused(lock):
                    try: lock()
                    except OSError as e: return errno.errorcode[e.errno]
                whole = struct.pack('hhqqi', fcntl.F_WRLCK, 0, 0, 10, 0)
                F_OFD_SETLK = 37
                fcntl.fcntl(first, F_OFD_SETLK, whole)
                print(refused(lambda: fcntl.fcntl(second, F_OFD_SETLK, whole)), flush=True)
                fcntl.lockf(first, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 20)
                if os.fork() == 0:
                    print(refused(lambda: fcntl.lockf(second, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 20)), flush=True)
                    os._exit(0)
                os.wait()
                """);
        assertEquals("EAGAIN EAGAIN", said);
    }
}
