package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.disks.LoopDisk;
import org.opendedup.sar.sdfs.cli.daemon.DaemonProcess;

/**
 * The installed commands under mount(8), umount(8) and fstab: ways to mount, to change a mount, and all the ways it can
 * end. umount(8) returns when the daemon has ended.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MountCommandTest {
    private static final String VOLUME = "installed";
    private static final Path NOTES = Path.of("/run/mount/utab");

    private Path folder;
    private Path mountPoint;
    private Path fstab;
    private Installation installation;
    private LoopDisk disk;
    private Path base;

    @BeforeAll
    void install(@TempDir Path temporary) throws IOException {
        folder = temporary.toRealPath();
        installation = Installation.make(folder);
        // A name with a space, which fstab and the mount table escape.
        mountPoint = Files.createDirectory(folder.resolve("mount point"));
        fstab = folder.resolve("fstab");
        disk = new LoopDisk(folder, 64 << 20);
        base = disk.folder().resolve("base");
        installation.makeVolume(VOLUME, base);
    }

    @AfterAll
    void uninstall() throws IOException {
        try (Installation installed = installation;
                LoopDisk mounted = disk) {}
    }

    @AfterEach
    void leaveNothingMounted() throws IOException {
        installation.run("umount", "-l", mountPoint);
        Installation.awaitClosed(base, VOLUME);
    }

    @Test
    void anFstabLineMountsByItsMountPointAndWithAll() throws IOException {
        writeFstab("noauto,nofail,x-systemd.automount,_netdev,noatime");
        installation.succeed("mount", "-T", fstab, "-a");
        assertFalse(isMounted(), "noauto");
        installation.succeed("mount", "-T", fstab, mountPoint);
        assertTrue(mountLine().contains(" rw,nosuid,nodev,noatime"), mountLine());
        installation.succeed("umount", mountPoint);
        assertFalse(isMounted());

        writeFstab("defaults,ro,memory_budget=300MB");
        installation.succeed("mount", "-T", fstab, "-a");
        assertTrue(mountLine().contains(" ro,nosuid,nodev,relatime"), mountLine());
        assertTrue(installation.succeed("sdfscli", VOLUME, "stats", "--json").contains("314572800"));
        // If there is nothing left to do, it does nothing.
        installation.succeed("mount", "-T", fstab, "-a");

        Commands.Result refused = installation.run("mount", "-o", "remount,rw", mountPoint);
        assertEquals(32, refused.exitCode(), refused::output);
        assertTrue(refused.output().contains("was mounted read-only"), refused::output);
        // The options that fstab has, and this mount too, are no change.
        installation.succeed("mount", "-T", fstab, "-o", "remount,noexec", mountPoint);
        assertTrue(mountLine().contains("noexec"), mountLine());
    }

    @Test
    void whatARemountCannotChangeIsRefused() throws IOException {
        mount("-o", "threads=5,noacl");
        for (String fixed : List.of("threads=3", "memory_budget=300MB", "noflush", "acl")) {
            Commands.Result refused = installation.run("mount", "-o", "remount," + fixed, mountPoint);
            assertEquals(32, refused.exitCode(), refused::output);
            assertTrue(
                    refused.output().contains("a remount does not change " + fixed.replace("300MB", "314572800")),
                    refused::output);
        }
        installation.succeed("mount", "-o", "remount,noexec,threads=5,flush,noacl", mountPoint);
        assertTrue(mountLine().contains("noexec"), mountLine());
    }

    private void writeFstab(String options) throws IOException {
        Files.writeString(fstab, VOLUME + " " + escaped(mountPoint) + " sdfs " + options + " 0 0\n");
    }

    @Test
    void anUnknownOptionIsRefusedUnlessMountIsSloppy() throws IOException {
        Commands.Result refused = tryMount("-o", "colour=red");
        assertEquals(1, refused.exitCode(), refused::output);
        assertTrue(refused.output().contains("'colour=red' is not known"), refused::output);
        assertFalse(isMounted());
        assertEquals(0, tryMount("-s", "-o", "colour=red").exitCode());
        assertTrue(isMounted());
    }

    @Test
    void aDryRunMountsNothing() throws IOException {
        assertEquals(0, tryMount("-f").exitCode());
        assertFalse(isMounted());
    }

    @Test
    void remountsReadOnlyAndBackButNotWhileFilesAreOpenForWriting() throws Exception {
        mount();
        Path file = mountPoint.resolve("remounted");
        try (Holder holder = writing(file)) {
            Commands.Result refused = installation.run("mount", "-o", "remount,ro", mountPoint);
            assertEquals(32, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains("open for writing"), refused::output);
        }
        installation.succeed("touch", file);

        installation.succeed("mount", "-o", "remount,ro", mountPoint);
        assertTrue(mountLine().contains(" ro,"), mountLine());
        for (String change : List.of(
                "touch \"$0\"",
                "rm \"$0\"",
                "chmod 600 \"$0\"",
                "truncate -s 1 \"$0\"",
                "mkdir \"$0.d\"",
                "ln \"$0\" \"$0.l\"")) {
            Commands.Result result = installation.run("bash", "-c", change, file);
            assertTrue(result.output().contains("Read-only file system"), change + " said " + result.output());
        }
        assertEquals("ready", Files.readString(file).strip());

        installation.succeed("mount", "-o", "remount,rw,noatime", mountPoint);
        assertTrue(mountLine().contains(" rw,nosuid,nodev,noatime"), mountLine());
        Files.writeString(file, "after");
    }

    @Test
    void othersAreLetInAsPermissionsSayUnlessAskedOtherwise() throws IOException {
        mount("-o", "noallow_other");
        Files.writeString(mountPoint.resolve("open"), "seen");
        Path secret = Files.writeString(mountPoint.resolve("secret"), "unseen");
        installation.succeed("chmod", "600", secret);
        installation.succeed("chmod", "755", folder);
        assertTrue(installation
                .asNobody("cat", mountPoint.resolve("open"))
                .output()
                .contains("Permission denied"));
        installation.succeed("sdfscli", VOLUME, "unmount");

        String said = mount("-v");
        assertTrue(said.contains("Every user may enter"), said);
        assertEquals(
                "seen", installation.asNobody("cat", mountPoint.resolve("open")).output());
        assertTrue(installation.asNobody("cat", secret).output().contains("Permission denied"));
    }

    @Test
    void setUserIdProgramsAndDevicesWorkOnlyOnRequestWhichARemountKeeps() throws IOException {
        installation.succeed("chmod", "755", folder);
        Path program = mountPoint.resolve("id");
        Path device = mountPoint.resolve("null");
        String said = mount("-v");
        assertTrue(said.contains("do not work (nosuid, nodev)"), said);
        installation.succeed("cp", "/usr/bin/id", program);
        installation.succeed("chmod", "4755", program);
        installation.succeed("mknod", "-m", "666", device, "c", "1", "3");
        assertEquals("65534", installation.asNobody(program, "-u").output().strip());
        assertTrue(installation.run("head", "-c1", device).output().contains("Permission denied"));
        installation.succeed("mount", "-o", "remount,ro", mountPoint);
        assertTrue(mountLine().contains(" ro,nosuid,nodev,"), mountLine());
        installation.succeed("sdfscli", VOLUME, "unmount");

        mount("-o", "allow_suid,allow_dev");
        assertEquals("0", installation.asNobody(program, "-u").output().strip());
        assertEquals("", installation.succeed("head", "-c1", device));
        installation.succeed("mount", "-o", "remount,ro", mountPoint);
        assertTrue(mountLine().contains(" ro,relatime,"), mountLine());
        installation.succeed("mount", "-o", "remount,rw,nodev,noexec", mountPoint);
        assertTrue(mountLine().contains(" rw,nodev,noexec,relatime,"), mountLine());
        installation.succeed("mount", "-o", "remount,exec,nosuid,allow_dev", mountPoint);
        assertTrue(mountLine().contains(" rw,nosuid,relatime,"), mountLine());
        installation.succeed("mount", "-o", "remount,allow_suid,nodev", mountPoint);
        assertTrue(mountLine().contains(" rw,nodev,relatime,"), mountLine());
        installation.succeed("sdfscli", VOLUME, "unmount");

        said = mount("-v", "-o", "allow_suid,allow_dev,nosuid");
        assertTrue(said.contains("devices work, set-user-ID programs do not (nosuid)"), said);
    }

    @Test
    void aBusyMountStaysAndSaysWhoUsesIt() throws Exception {
        mount();
        Path file = mountPoint.resolve("busy");
        try (Holder holder = writing(file)) {
            assertNotEquals(0, installation.run("umount", mountPoint).exitCode());
            Commands.Result refused = installation.run("sdfscli", VOLUME, "unmount");
            assertEquals(1, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains(holder.pid() + " (sleep)"), refused::output);
            Files.writeString(mountPoint.resolve("goes on"), "yes");
        }
        try (Holder holder = new Holder(installation, "cd \"$0\"", mountPoint)) {
            Commands.Result refused = installation.run("sdfscli", VOLUME, "unmount");
            assertTrue(refused.output().contains(holder.pid() + " (sleep)"), refused::output);
        }
        installation.succeed("sdfscli", VOLUME, "unmount");
        mount();
        assertEquals("yes", Files.readString(mountPoint.resolve("goes on")));
        assertEquals("ready", Files.readString(file).strip());
    }

    @Test
    void aLazyUnmountEndsWithTheLastOpenFile() throws Exception {
        mount();
        Path file = mountPoint.resolve("lazy");
        ProcessHandle daemon = daemon();
        try (Holder holder = writing(file)) {
            installation.succeed("umount", "-l", mountPoint);
            assertFalse(isMounted());
            assertTrue(daemon.isAlive());
            Commands.Result refused = tryMount();
            assertEquals(32, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains("umount -l"), refused::output);
            assertTrue(refused.output().contains(holder.pid() + " (sleep)"), refused::output);
            assertTrue(installation.succeed("sdfscli", "--list").contains("detached"));
        }
        Installation.awaitEnd(daemon);
        mount();
        assertEquals("ready", Files.readString(file).strip());
    }

    @Test
    void aKilledDaemonLeavesADeadMountThatTheNextMountClearsAway() throws Exception {
        mount();
        Bytes.writeAndSync(mountPoint.resolve("synced"), Bytes.random(7, 100_000));
        ProcessHandle daemon = daemon();
        daemon.destroyForcibly();
        Installation.awaitEnd(daemon);
        // While the kernel takes down the connection, calls may fail by other errors.
        TestWait.until(
                () -> installation.run("ls", mountPoint).output().contains("Transport endpoint is not connected"));

        Commands.Result mounted = tryMount();
        assertEquals(0, mounted.exitCode(), mounted::output);
        assertTrue(mounted.output().contains("whose daemon was dead"), mounted::output);
        assertArrayEquals(Bytes.random(7, 100_000), Files.readAllBytes(mountPoint.resolve("synced")));
        assertEquals(1, mountLines(), "the dead mount lies beneath");
        // The control: a live mount is not touched.
        Commands.Result refused = installation.run("mount.sdfs", VOLUME, mountPoint);
        assertEquals(1, refused.exitCode(), refused::output);
        assertTrue(isMounted());
    }

    @Test
    void sigtermTakesTheMountFromItsUsersAndKeepsWhatTheyWrote() throws Exception {
        mount();
        Path file = mountPoint.resolve("terminated");
        ProcessHandle daemon = daemon();
        try (Holder holder = writing(file)) {
            daemon.destroy();
            Installation.awaitEnd(daemon);
            assertFalse(isMounted());
        }
        mount();
        assertEquals("ready", Files.readString(file).strip());
    }

    @Test
    void aUserMountsInAFolderOfHisOwnAndUnmounts() throws IOException {
        assumeTrue(
                installation.asNobody("test", "-w", "/dev/fuse").exitCode() == 0,
                "needs a /dev/fuse that users may open, as udev makes it (mode 0666)");
        Path own = Files.createDirectory(folder.resolve("own"));
        installation.succeed("chmod", "-R", "a+rX", folder.resolve("prefix"));
        installation.succeed("chmod", "755", folder);
        installation.succeed("chown", "65534:65534", own);
        Path place = own.resolve("mnt");
        // Without HOME, or any other variable.
        String shell = "export SDFS_CONFIG_DIR=" + own + "/etc; cd " + own + "; PATH=" + folder
                + "/prefix/bin:$PATH; mkdir mnt; "
                + "mkfs.sdfs --volume-name=own --volume-capacity=1GB --memory-budget=256MB"
                + " --base-path=" + own + "/base && mount.sdfs own mnt && echo mine > mnt/file && grep '" + place
                + " ' /proc/mounts && fusermount3 -u mnt && mount.sdfs -o ro own mnt "
                + "&& cat mnt/file && sdfscli own unmount"
                + " && mount.sdfs -o allow_other own mnt";
        Commands.Result result = installation.asNobody("bash", "-c", shell);
        assertTrue(result.output().contains("nosuid,nodev"), result::output);
        assertTrue(result.output().contains("\nmine\n"), result::output);
        boolean permitted = Files.exists(Path.of("/etc/fuse.conf"))
                && Files.readAllLines(Path.of("/etc/fuse.conf")).contains("user_allow_other");
        if (permitted) {
            assertEquals(0, result.exitCode(), result::output);
            installation.succeed("umount", place);
        } else {
            assertEquals(1, result.exitCode(), result::output);
            assertTrue(result.output().contains("user_allow_other"), result::output);
        }
    }

    @Test
    void theDiskOfAVolumeCanBeUnmountedAfterIt() throws IOException {
        mount();
        Files.write(mountPoint.resolve("large"), Bytes.random(1, 3_000_000));
        ProcessHandle daemon = daemon();
        String both = "umount \"$0\" && umount \"$1\"";
        Commands.Result unmounted = installation.run("bash", "-c", both, mountPoint, disk.folder());
        assertEquals(0, unmounted.exitCode(), unmounted::output);
        assertFalse(DaemonProcess.isAlive(daemon.pid()));
        assertFalse(isNoted());
        disk.mount();
    }

    /** Also the control of the other tests of umount(8). A stopped daemon stands for a slow one. */
    @Test
    void withoutTheHelperItReturnsWhileTheDaemonHoldsTheDisk() throws Exception {
        ProcessHandle daemon = mountAndStop();
        try {
            assertEquals(0, installation.run("umount", "-i", mountPoint).exitCode());
            assertTrue(daemon.isAlive());
            Commands.Result busy = installation.run("umount", disk.folder());
            assertTrue(busy.output().contains("busy"), busy::output);
        } finally {
            goOn(daemon);
        }
        Installation.awaitEnd(daemon);
        disk.unmount();
        disk.mount();
    }

    @Test
    void itDoesNotWaitForEver() throws Exception {
        ProcessHandle daemon = mountAndStop();
        try {
            Commands.Result late = installation.run("env", "SDFS_UMOUNT_SECONDS=1", "umount", mountPoint);
            assertEquals(32, late.exitCode(), late::output);
            assertTrue(
                    late.output().contains("process " + daemon.pid() + " is still closing the volume"), late::output);
            assertFalse(isMounted());
        } finally {
            goOn(daemon);
        }
        Installation.awaitEnd(daemon);
    }

    @Test
    void aLazyUnmountDoesNotWait() throws Exception {
        ProcessHandle daemon = mountAndStop();
        try {
            Commands.Result lazy = installation.run("umount", "-l", mountPoint);
            assertEquals(0, lazy.exitCode(), lazy::output);
            assertEquals("", lazy.output());
            assertFalse(isMounted());
        } finally {
            goOn(daemon);
        }
        Installation.awaitEnd(daemon);
    }

    @Test
    void aBusyMountStaysAndAnotherPlaceOfItIsNotWaitedFor() throws IOException {
        mount();
        Path file = Files.writeString(mountPoint.resolve("open"), "x");
        Commands.Result busy = installation.run("bash", "-c", "exec 5<\"$0\"; umount -v \"$1\"", file, mountPoint);
        assertEquals(32, busy.exitCode(), busy::output);
        assertTrue(busy.output().contains("busy"), busy::output);
        assertTrue(isMounted() && isNoted());

        Path other = Files.createDirectory(folder.resolve("other"));
        Commands.succeed("mount", "--bind", mountPoint, other);
        installation.succeed("umount", other);
        Commands.succeed("mount", "--bind", mountPoint, other);
        ProcessHandle daemon = daemon();
        installation.succeed("umount", mountPoint);
        assertTrue(daemon.isAlive());
        assertEquals("x", Files.readString(other.resolve("open")));
        // A relative path: for an absolute one umount(8) calls statfs(2), which has no subtype, and there is no entry
        // for this place.
        installation.succeed("bash", "-c", "cd \"$0\" && umount other", folder);
        assertFalse(DaemonProcess.isAlive(daemon.pid()));
    }

    @Test
    void theEntryGoesAlsoWhenTheDaemonUnmounts() throws IOException {
        mount();
        assertTrue(isNoted());
        installation.succeed("sdfscli", VOLUME, "unmount");
        assertFalse(isNoted());
        disk.unmount();
        disk.mount();
    }

    /** No other user may make an administrator wait. */
    @Test
    void aProcessOfAnotherUserIsNotTakenForTheDaemon() throws Exception {
        mount();
        ProcessHandle daemon = daemon();
        Process impostor = new ProcessBuilder(new ArrayList<>(List.of(
                        "setpriv",
                        "--reuid=65534",
                        "--clear-groups",
                        "bash",
                        "-c",
                        "echo; read",
                        "org.opendedup.sar.sdfs.cli.DaemonProgram",
                        "--",
                        VOLUME,
                        mountPoint.toString())))
                .start();
        try {
            assertEquals('\n', impostor.getInputStream().read());
            installation.succeed("umount", mountPoint);
            assertFalse(DaemonProcess.isAlive(daemon.pid()));
            assertTrue(impostor.isAlive());
        } finally {
            impostor.destroyForcibly().waitFor();
        }
    }

    /** As of a container, or a service with mounts of its own, that was started while the volume was mounted. */
    @Test
    void aMountNamespaceThatHasTheVolumeIsNamedAndSigtermClosesItNevertheless() throws Exception {
        mount();
        ProcessHandle daemon = daemon();
        String hold = "own=\"$0\"\n" + Installation.LET_GO_OF_OTHERS + "echo; exec cat";
        Process holder = new ProcessBuilder(installation.inside("unshare", "-m", "bash", "-c", hold, folder)).start();
        try {
            assertEquals('\n', holder.getInputStream().read());
            awaitProgram(holder, "cat");
            Files.writeString(mountPoint.resolve("last"), "x");
            Commands.Result kept = installation.run("sdfscli", VOLUME, "unmount");
            assertEquals(1, kept.exitCode(), kept::output);
            assertTrue(kept.output().contains("used by process " + holder.pid() + " (cat)"), kept::output);
            assertFalse(isMounted());
            assertTrue(daemon.isAlive());
            Commands.succeed("kill", daemon.pid());
            Installation.awaitEnd(daemon);
            assertTrue(holder.isAlive());
        } finally {
            holder.destroyForcibly().waitFor();
        }
        mount();
        assertEquals("x", Files.readString(mountPoint.resolve("last")));
        installation.succeed("umount", mountPoint);
    }

    @Test
    void aDaemonWhoseFolderIsTakenAwayEndsAndWritesNoMore() throws Exception {
        mount();
        ProcessHandle daemon = daemon();
        Path metadata = base.resolve("ddb");
        Path away = Files.move(metadata, base.resolve("away"));
        Installation.awaitEnd(daemon);
        assertFalse(Files.exists(metadata));
        Files.move(away, metadata);
        mount();
        installation.succeed("umount", mountPoint);
    }

    private Commands.Result tryMount(Object... options) throws IOException {
        List<Object> command = new ArrayList<>(List.of("mount", "-t", "sdfs", VOLUME, mountPoint));
        command.addAll(List.of(options));
        return installation.run(command.toArray());
    }

    private String mount(Object... options) throws IOException {
        Commands.Result result = tryMount(options);
        assertEquals(0, result.exitCode(), result::output);
        assertTrue(isMounted(), result::output);
        return result.output();
    }

    private ProcessHandle daemon() throws IOException {
        return Installation.daemon(VOLUME, mountPoint);
    }

    private ProcessHandle mountAndStop() throws IOException {
        mount();
        Files.write(mountPoint.resolve("file"), Bytes.random(1, 1_000_000));
        Commands.succeed("sync", mountPoint);
        ProcessHandle daemon = daemon();
        Commands.succeed("kill", "-STOP", daemon.pid());
        return daemon;
    }

    private static void goOn(ProcessHandle daemon) throws IOException {
        Commands.succeed("kill", "-CONT", daemon.pid());
    }

    private boolean isMounted() throws IOException {
        return mountLines() > 0;
    }

    private boolean isNoted() throws IOException {
        return Files.exists(NOTES) && Files.readString(NOTES).contains("TARGET=" + escaped(mountPoint) + " ");
    }

    private static String escaped(Path path) {
        return path.toString().replace(" ", "\\040");
    }

    private long mountLines() throws IOException {
        return installation.mounts().lines().filter(this::isOurs).count();
    }

    private String mountLine() throws IOException {
        return installation.mounts().lines().filter(this::isOurs).findFirst().orElse("not mounted");
    }

    private boolean isOurs(String line) {
        return line.startsWith(VOLUME + " " + escaped(mountPoint) + " fuse.sdfs ");
    }

    /** Appends the line "ready" and keeps the file open. */
    private Holder writing(Path file) throws IOException {
        return new Holder(installation, "exec 5>>\"$0\"; echo ready >&5", file);
    }

    /** Waits until a shell has become the program by whose name messages call it. */
    private static void awaitProgram(Process process, String name) {
        Path file = Path.of("/proc", Long.toString(process.pid()), "comm");
        TestWait.until(() -> Files.readString(file).strip().equals(name));
    }

    /** A program that uses the mount until it is closed. */
    private record Holder(Process process) implements AutoCloseable {
        Holder(Installation installation, String shell, Path path) throws IOException {
            this(new ProcessBuilder(installation.inside("bash", "-c", shell + "; echo; exec sleep 300", path)).start());
            assertEquals("", process.inputReader(StandardCharsets.UTF_8).readLine());
            awaitProgram(process, "sleep");
        }

        long pid() {
            return process.pid();
        }

        @Override
        public void close() throws IOException {
            process.destroyForcibly();
            process.onExit().join();
        }
    }
}
