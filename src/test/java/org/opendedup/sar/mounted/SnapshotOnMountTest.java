package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.report.Json;

/** Snapshots by commands and by the schedule, and what programs see of them on a mount. */
@Timeout(300)
class SnapshotOnMountTest {
    /** Makes a tree with all kinds of files in {@code tree}. */
    private static final String MAKE_TREE = """
            mkdir -p tree/a/b tree/empty
            head -c 300000 /dev/urandom > tree/a/large
            for i in $(seq 100); do echo $i > tree/a/b/f$i; done
            ln tree/a/large tree/hard
            ln -s a/large tree/soft
            mkfifo tree/fifo
            mknod tree/null c 1 3
            cp -L /bin/true tree/program
            truncate -s 5M tree/sparse
            setfattr -n user.kept -v value tree/a
            chmod 2750 tree/a
            chown 1000:1000 tree/a/b
            """;

    /** Prints what {@code tar} sees of a tree, without access times. */
    private static final String DIGEST = "tar --sort=name --xattrs --pax-option=delete=atime -cf - tree | sha256sum";

    /** The same without what a copy does not keep. */
    private static final String COPY_DIGEST = DIGEST.replace("delete=atime", "delete=atime,delete=ctime");

    @TempDir
    Path folder;

    private MountedVolume volume;

    private void make(String... options) throws IOException {
        volume = MountedVolume.makeWith(folder.resolve("snap"), options);
        volume.mount();
    }

    @AfterEach
    void remove() throws IOException {
        volume.close();
    }

    private String shell(String script) throws IOException {
        return Commands.succeed("bash", "-c", "set -e -o pipefail; cd " + volume.mountPoint() + "; " + script)
                .strip();
    }

    /** Returns what a script prints, also to its error stream, on one line, with its exit code if that is not 0. */
    private String tried(String script) throws IOException {
        Commands.Result result = Commands.run("bash", "-c", "cd " + volume.mountPoint() + "; " + script + " 2>&1");
        String said = result.output().strip().replaceAll("\\s+", " ");
        return result.exitCode() == 0 ? said : said + " (" + result.exitCode() + ")";
    }

    private List<String> names() throws IOException {
        return Json.objects(volume.json("snapshot", "list"), "snapshots").stream()
                .map(one -> String.valueOf(one.get("snapshot")))
                .toList();
    }

    private void assertSaid(String wanted, String said) {
        assertTrue(said.contains(wanted), () -> "'" + wanted + "' is not in: " + said);
    }

    @Test
    void programsReadWhatWasThere() throws IOException {
        make();
        shell(MAKE_TREE);
        String before = shell(DIGEST);
        // Bytes that the kernel has in its cache and did not send: no program has synced them.
        Map<String, Object> made = volume.json("snapshot", "create", "first");
        assertEquals("first", made.get("snapshot"));
        shell("echo changed > tree/a/b/f1; rm -r tree/empty tree/hard; mv tree/soft tree/moved;"
                + " truncate -s 7 tree/sparse");
        String after = shell(DIGEST);
        assertEquals(before, shell("cd .snapshots/first; " + DIGEST));
        volume.dropKernelCaches();
        assertEquals(before, shell("cd .snapshots/first; " + DIGEST));
        assertEquals(after, shell(DIGEST));

        String differing = String.join(
                "\n",
                "M  content             /tree/a/b/f1",
                "-                      /tree/empty/",
                "-  link                /tree/hard",
                "R                      /tree/soft -> /tree/moved",
                "M  content             /tree/sparse");
        assertSaid(differing, volume.run("snapshot", "diff", "first"));
        volume.run("snapshot", "create", "second");
        shell("chmod 700 tree/a/b/f2; touch $'tree/new\\xff\\n'; echo again > tree/.f3; mv tree/.f3 tree/a/b/f3");
        assertSaid(differing, volume.run("snapshot", "diff", "first", "second"));
        List<Map<String, Object>> changes = Json.objects(volume.json("snapshot", "diff", "second"), "changes");
        assertEquals(
                List.of("modified /tree/a/b/f2", "modified /tree/a/b/f3", "added file"),
                changes.stream()
                        .map(one -> one.get("change") + " " + one.get(one.containsKey("pathBase64") ? "type" : "path"))
                        .toList());
        assertEquals(
                List.of(true, false, false),
                changes.stream().map(one -> one.get("attributes")).toList());
        assertEquals(
                List.of(false, true, false),
                changes.stream().map(one -> one.get("replaced")).toList());
        assertEquals("L3RyZWUvbmV3/wo=", changes.get(2).get("pathBase64"));
        assertSaid("+                      /tree/new\\xff\\u000a", volume.run("snapshot", "diff", "second"));
        assertEquals(List.of("first", "second"), names());
        volume.run("snapshot", "delete", "second");
        shell("rm tree/new*; cp -p .snapshots/first/tree/a/b/f3 tree/a/b/f3");

        // What is hidden, and what is not the present file.
        assertEquals("tree", shell("ls -A"));
        assertEquals("0", shell("find . -path '*snapshots*' | wc -l"));
        assertEquals("first", shell("ls -A .snapshots"));
        assertEquals("1 2", shell("stat -c %h .snapshots/first/tree/program .snapshots/first/tree/hard | xargs"));
        assertEquals("same", shell("[ .snapshots/first/tree/hard -ef .snapshots/first/tree/a/large ] && echo same"));
        assertEquals("other", shell("[ tree/program -ef .snapshots/first/tree/program ] || echo other"));
        assertEquals("1", shell("stat -f -c %T . .snapshots/first/tree/a | uniq | wc -l"));
        assertEquals(shell("stat -f -c %i:%b ."), shell("stat -f -c %i:%b .snapshots/first/tree"));
        assertEquals(
                shell("stat -c %i .snapshots/first/tree .snapshots .snapshots/first | xargs"),
                shell("cd .snapshots/first/tree; stat -c %i . ../.. .. | xargs"));

        // Programs of users.
        String content = shell("cd .snapshots/first; " + COPY_DIGEST);
        Path copy = Files.createDirectories(folder.resolve("copy"));
        shell("cp -a .snapshots/first/tree " + copy);
        assertEquals(content, shell("cd " + copy + "; " + COPY_DIGEST));
        assertEquals(
                "Only in .snapshots/first/tree: empty Only in .snapshots/first/tree: hard (1)",
                tried("diff -rq .snapshots/first/tree tree | grep empty; diff -rq .snapshots/first/tree tree"
                        + " | grep hard; exit 1"));
        shell("./.snapshots/first/tree/program");
        assertEquals("7", shell("cd .snapshots/first/tree/a/b; cat f7"));
        String user = "setpriv --reuid 1000 --regid 1000 --clear-groups ";
        assertEquals("a/large", shell(user + "readlink .snapshots/first/tree/soft"));
        assertSaid("Permission denied", tried(user + "cat .snapshots/first/tree/a/b/f8"));
        assertEquals("", shell("getfattr -d -m - .snapshots"));
        assertEquals(
                "1\n",
                Commands.succeed(
                        "python3",
                        "-c",
                        "import mmap; f = open('" + volume.mountPoint() + "/.snapshots/first/tree/a/b/f1', 'rb');"
                                + " print(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[:1].decode())"));

        // Nothing changes there.
        assertSaid("Read-only file system", tried("echo x > .snapshots/first/tree/new"));
        assertSaid("Read-only file system", tried("echo x > .snapshots/first/tree/a/large"));
        assertSaid("Read-only file system", tried("rm -r .snapshots/first"));
        assertSaid("Read-only file system", tried("rmdir .snapshots/first"));
        assertSaid("Read-only file system", tried("mkdir .snapshots/other"));
        assertSaid("Read-only file system", tried("mv .snapshots/first/tree/program tree/"));
        assertSaid("Read-only file system", tried("touch .snapshots/first/tree/program"));
        assertSaid("(1)", tried("ln .snapshots/first/tree/program tree/link"));
        assertSaid("(1)", tried("rmdir .snapshots"));

        // Past FUSE.
        Path restored = Files.createDirectories(folder.resolve("restored"));
        volume.run("restore", ".snapshots/first/tree", restored.resolve("tree").toString());
        assertEquals(content, shell("cd " + restored + "; " + COPY_DIGEST));

        // A copy back moves no data.
        shell("cp -a .snapshots/first/tree/a/large tree/back; cmp tree/back tree/a/large");
        volume.remount();
        assertEquals(before, shell("cd .snapshots/first; " + DIGEST));
    }

    /** Names are made and deleted without the kernel, which must not use what it remembers of them. */
    @Test
    void theKernelSeesWhatCommandsMakeAndDelete() throws IOException {
        make();
        shell("mkdir d; echo one > d/f; echo other > kept");
        assertEquals("", shell("ls -A .snapshots"));
        assertSaid("No such file", tried("cat .snapshots/name/d/f"));
        volume.run("snapshot", "create", "name");
        assertEquals("one", shell("cat .snapshots/name/d/f"));
        assertEquals("name", shell("ls .snapshots"));
        shell("echo two > d/f");
        Path inside = volume.mountPoint().resolve(".snapshots/name/d");
        Process reader = new ProcessBuilder(
                        "bash", "-c", "exec 3< f; echo ready; read; ls; cat f <&-; cat <&3; cd ..; echo end")
                .directory(inside.toFile())
                .redirectErrorStream(true)
                .start();
        try (var said = reader.inputReader();
                var to = reader.outputWriter()) {
            assertEquals("ready", said.readLine());
            String handle = handle("dump", ".snapshots/name/d/f");
            assertEquals("one", handle("read", handle));
            volume.run("snapshot", "delete", "name");
            assertEquals("", shell("ls .snapshots"));
            assertSaid("No such file", tried("cat .snapshots/name/d/f"));
            to.write("\n");
            to.flush();
            String rest = String.join("\n", said.lines().toList());
            assertSaid("Stale file handle", rest);
            assertTrue(rest.endsWith("end"), rest);
            volume.dropKernelCaches();
            assertEquals("ESTALE", handle("read", handle));
        } finally {
            reader.destroyForcibly();
        }
        String before = shell("stat -c %y .snapshots; stat -c %y .snapshots");
        volume.run("snapshot", "create", "name");
        assertNotEquals(before, shell("stat -c %y .snapshots; stat -c %y .snapshots"));
        assertEquals("two", shell("cat .snapshots/name/d/f"));
        assertEquals("name", shell("ls .snapshots"));
        for (int i = 0; i < 5; i++) {
            volume.run("snapshot", "create", "n" + i);
            assertEquals(i + 2, names().size());
            assertEquals(String.valueOf(i + 2), shell("ls .snapshots | wc -l"));
            shell("head -c 200000 /dev/urandom > between; sync between");
        }
        // The bytes of four files; each lies in one snapshot only. That of the fifth is the present one.
        Map<String, Object> dry = volume.json("snapshot", "delete", "--dry-run", "n1%n4");
        assertEquals(800_000, Json.number(dry, "freesBytes"));
        assertEquals(4, Json.objects(dry, "deleted").size());
        assertEquals(6, names().size());
        assertEquals(800_000, Json.number(volume.json("snapshot", "list"), "freesBytes"));
        volume.run("snapshot", "delete", "n1%n4");
        assertEquals(List.of("name", "n0"), names());
        assertEquals(0, volume.cli("check").exitCode());
    }

    /** Makes a file handle as an NFS server does, or reads by one; handles are hexadecimal. */
    private String handle(String what, String argument) throws IOException {
        return Commands.succeed(
                        "python3",
                        "-c",
                        """
                        import ctypes, errno, os, sys
                        libc = ctypes.CDLL(None, use_errno=True)
                        class Handle(ctypes.Structure):
                            _fields_ = [('bytes', ctypes.c_uint), ('type', ctypes.c_int),
                                        ('data', ctypes.c_ubyte * 128)]
                        what, argument, mount = sys.argv[1:]
                        os.chdir(mount)
                        if what == 'dump':
                            made, number = Handle(bytes=128), ctypes.c_int()
                            path = argument.encode()
                            assert libc.name_to_handle_at(
                                -100, path, ctypes.byref(made), ctypes.byref(number), 0) == 0
                            print(bytes(made).hex())
                        else:
                            mount = os.open('.', 0)
                            handle = Handle.from_buffer_copy(bytes.fromhex(argument))
                            fd = libc.open_by_handle_at(mount, ctypes.byref(handle), 0)
                            if fd < 0: print(errno.errorcode[ctypes.get_errno()])
                            elif what == 'read': print(os.read(fd, 10).decode())
                            else: print(os.readlink('/proc/self/fd/%d' % fd))
                        """,
                        what,
                        argument,
                        volume.mountPoint().toString())
                .strip();
    }

    /** The kernel finds the path of a folder's handle by listing the folders above it, as for a client of NFS. */
    @Test
    void foldersOfSnapshotsHaveHandlesWhereTheyAreListed() throws IOException {
        make();
        shell("mkdir d; echo one > d/f");
        volume.run("snapshot", "create", "name");
        String inside = handle("dump", ".snapshots/name/d");
        assertEquals(volume.mountPoint() + "/.snapshots/name/d", handle("path", inside));
        volume.dropKernelCaches();
        assertEquals("ESTALE", handle("path", inside), "the control: hidden");
        volume.unmount();
        volume.with("show_snapshots").mount();
        assertEquals(".snapshots d", shell("ls -A | xargs"));
        assertEquals(
                "./.snapshots ./.snapshots/name ./.snapshots/name/d ./.snapshots/name/d/f",
                shell("find .snap* | sed s,^,./, | xargs"));
        inside = handle("dump", ".snapshots/name/d");
        volume.dropKernelCaches();
        assertEquals(volume.mountPoint() + "/.snapshots/name/d", handle("path", inside));
        shell("for i in $(seq 1000); do : > f$i; done");
        assertEquals("1002", shell("ls -A | wc -l"));
    }

    @Test
    void commandsMakeHoldDeleteAndPrune() throws IOException {
        make();
        volume.run("snapshot", "create", "held", "--hold-until=2099-12-31");
        Map<String, Object> timed = volume.json("snapshot", "create");
        assertTrue(String.valueOf(timed.get("snapshot")).matches("@GMT-\\d{4}(\\.\\d\\d){2}-\\d\\d(\\.\\d\\d){2}"));
        volume.run("snapshot", "create", "third");
        assertEquals(List.of("held", String.valueOf(timed.get("snapshot")), "third"), names());
        assertSaid("held until 2100-01-01T00:00:00", volume.run("snapshot", "list"));
        assertEquals(ExitCode.FAILED, volume.cli("snapshot", "create", "third").exitCode());
        assertEquals(
                ExitCode.USAGE,
                volume.cli("snapshot", "hold", "third", "--until=soon").exitCode());
        assertEquals(
                ExitCode.FAILED,
                volume.cli("snapshot", "hold", "third", "--until=2001-01-01").exitCode());
        assertEquals(
                ExitCode.FAILED,
                volume.cli("snapshot", "hold", "held", "--until=2098-01-01").exitCode());

        Commands.Result mixed = volume.cli("snapshot", "delete", "held", "third", "none");
        assertEquals(ExitCode.FAILED, mixed.exitCode());
        assertSaid("is held until", mixed.output());
        assertSaid("there is no snapshot 'none'", mixed.output());
        assertSaid("Deleted 1 snapshot.", mixed.output());

        assertSaid("Deleted 0 of 0 snapshots", volume.run("snapshot", "prune", "--keep-last=1"));
        assertSaid("Would delete 0 of 2", volume.run("snapshot", "prune", "--keep-last=1", "--all", "--dry-run"));
        volume.run("snapshot", "create", "newest");
        assertEquals(3, names().size());
        assertSaid("Held until", volume.run("snapshot", "prune", "--keep-last=1", "--all"));
        assertEquals(List.of("held", "newest"), names());
        assertEquals(2, volume.figure("stats", "snapshots"));
        assertSaid("2, the newest of ", volume.run("status"));
        assertSaid("\"snapshot\":\"newest\"", Files.readString(folder.resolve("snap/base/log/snap.audit")));

        volume.unmount();
        assertEquals(ExitCode.NOT_MOUNTED, volume.cli("snapshot", "list").exitCode());
        volume.with("ro").mount();
        assertEquals(List.of("held", "newest"), names());
        assertSaid("read", volume.cli("snapshot", "create", "no").output());
        assertEquals(List.of("held", "newest"), names());
    }

    @Test
    void theWholeVolumeIsRolledBackAndForth() throws IOException {
        make("--encrypt");
        shell(MAKE_TREE);
        String first = shell(DIGEST);
        volume.run("snapshot", "create", "first");
        shell("rm -r tree/a tree/hard; echo new > tree/new; chmod 700 tree");
        String second = shell(DIGEST);
        Commands.Result mounted = volume.cli("snapshot", "rollback", "first");
        assertEquals(ExitCode.FAILED, mounted.exitCode());
        assertSaid("unmount it first: sdfscli snap unmount", mounted.output());
        volume.unmount();
        Commands.Result unknown = volume.cli("snapshot", "rollback", "none");
        assertEquals(ExitCode.FAILED, unknown.exitCode());
        assertSaid("there is no snapshot 'none'", unknown.output());

        Map<String, Object> would = volume.json("snapshot", "rollback", "first", "--dry-run");
        Map<String, Object> done = volume.json("snapshot", "rollback", "first");
        for (String figure : List.of("backFiles", "backBytes", "goneFiles", "goneBytes", "changedFiles")) {
            assertEquals(would.get(figure), done.get(figure), figure);
        }
        // The folders a and b, 100 files, and one with two names.
        assertEquals(103, Json.number(done, "backFiles"));
        assertEquals(1, Json.number(done, "goneFiles"));
        String kept = String.valueOf(done.get("kept"));
        assertSaid(kept, Files.readString(folder.resolve("snap/base/log/snap.audit")));
        assertEquals(0, volume.script("sdfs-check", List.of("snap")).exitCode());
        volume.mount();
        assertEquals(first, shell(DIGEST));
        assertEquals(List.of("first", kept), names());
        assertEquals(second, shell("cd .snapshots/" + kept + "; " + DIGEST));

        volume.unmount();
        assertSaid("Rolled snap back to " + kept, volume.run("snapshot", "rollback", kept, "--discard"));
        assertSaid("nothing was done", volume.run("snapshot", "rollback", kept));
        volume.mount();
        assertEquals(second, shell(DIGEST));
        assertEquals(first, shell("cd .snapshots/first; " + DIGEST));
        assertEquals(List.of("first", kept), names());
    }

    @Test
    void theScheduleMakesSnapshotsAndKeepsTheNewest() throws IOException {
        make();
        volume.run("snapshot", "create", "mine");
        volume.run("set", "--snapshot-schedule=* * * * * ?", "--snapshot-keep=last=2");
        assertSaid("keep      last=2", volume.run("snapshot", "list"));
        TestWait.until(() -> Json.objects(volume.json("snapshot", "list"), "snapshots").stream()
                        .filter(one -> Json.number(one, "number") >= 5)
                        .count()
                >= 1);
        List<String> names = names();
        assertTrue(names.contains("mine"), names::toString);
        assertTrue(names.size() <= 4, names::toString);
    }
}
