package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/**
 * The installed commands under mount(8), umount(8) and fstab: ways to mount, to change a mount, and all the ways it can
 * end.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Alone
class MountCommandTest {
    private static final String VOLUME = "installed";
    private static final String AS_NOBODY =
            "exec setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH=\"$PATH\" ";

    private Path folder;
    private Path mountPoint;
    private Path fstab;
    private Installation installation;

    @BeforeAll
    void install(@TempDir Path folder) throws IOException {
        this.folder = folder.toRealPath();
        // A name with a space, which fstab and the mount table escape.
        mountPoint = Files.createDirectory(this.folder.resolve("mount point"));
        fstab = this.folder.resolve("fstab");
        installation = new Installation(this.folder);
        installation.makeVolume(VOLUME, this.folder.resolve("base"));
    }

    @AfterAll
    void uninstall() throws IOException {
        if (installation != null) {
            installation.close();
        }
    }

    @AfterEach
    void leaveNothingMounted() throws IOException {
        Commands.run("umount", "-l", mountPoint);
        awaitClosed();
    }

    @Test
    void whatIsInstalledDoesNotKnowWhereItWasBuilt() throws IOException {
        Commands.Result found = Commands.run(
                "grep",
                "-rlF",
                Installation.projectFolder(),
                installation.folder().resolve("bin"));
        assertEquals(1, found.exitCode(), found::output);
        for (Path link : Installation.HELPER_LINKS) {
            assertTrue(link.toRealPath().startsWith(installation.folder()), link.toString());
        }
    }

    @Test
    void whatIsNotOursIsNeverReplaced(@TempDir Path other) throws IOException {
        Path foreign = Files.createDirectories(other.resolve("bin")).resolve("sdfscli");
        Files.writeString(foreign, "not ours");
        Commands.Result refused = installInto(other);
        assertEquals(1, refused.exitCode(), refused::output);
        assertTrue(refused.output().contains(foreign.toString()), refused::output);
        assertEquals("not ours", Files.readString(foreign));
        assertFalse(Files.exists(other.resolve("lib")));

        Files.delete(foreign);
        refused = installInto(other);
        assertEquals(1, refused.exitCode(), refused::output);
        assertTrue(refused.output().contains("/sbin/mount.sdfs is there already"), refused::output);

        // The control: over itself it installs.
        Commands.Result again = installation.install();
        assertEquals(0, again.exitCode(), again::output);
    }

    private static Commands.Result installInto(Path prefix) throws IOException {
        return Commands.run(Installation.projectFolder().resolve("scripts/install"), "--prefix=" + prefix);
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
    }

    private void writeFstab(String options) throws IOException {
        Files.writeString(
                fstab, VOLUME + " " + mountPoint.toString().replace(" ", "\\040") + " sdfs " + options + " 0 0\n");
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
        try (Holder holder = Holder.writing(file)) {
            Commands.Result refused = installation.run("mount", "-o", "remount,ro", mountPoint);
            assertEquals(32, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains("open for writing"), refused::output);
        }
        Commands.succeed("touch", file);

        installation.succeed("mount", "-o", "remount,ro", mountPoint);
        assertTrue(mountLine().contains(" ro,"), mountLine());
        for (String change : List.of(
                "touch \"$0\"",
                "rm \"$0\"",
                "chmod 600 \"$0\"",
                "truncate -s 1 \"$0\"",
                "mkdir \"$0.d\"",
                "ln \"$0\" \"$0.l\"")) {
            Commands.Result result = Commands.run("bash", "-c", change, file);
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
        Commands.succeed("chmod", "600", secret);
        Commands.succeed("chmod", "755", folder);
        assertTrue(asNobody("cat", mountPoint.resolve("open")).output().contains("Permission denied"));
        installation.succeed("sdfscli", VOLUME, "unmount");

        String said = mount("-v");
        assertTrue(said.contains("Every user may enter"), said);
        assertEquals("seen", asNobody("cat", mountPoint.resolve("open")).output());
        assertTrue(asNobody("cat", secret).output().contains("Permission denied"));
    }

    @Test
    void setUserIdProgramsAndDevicesWorkOnlyOnRequestWhichARemountKeeps() throws IOException {
        Commands.succeed("chmod", "755", folder);
        Path program = mountPoint.resolve("id");
        Path device = mountPoint.resolve("null");
        String said = mount("-v");
        assertTrue(said.contains("do not work (nosuid, nodev)"), said);
        Commands.succeed("cp", "/usr/bin/id", program);
        Commands.succeed("chmod", "4755", program);
        Commands.succeed("mknod", "-m", "666", device, "c", "1", "3");
        assertEquals("65534", asNobody(program, "-u").output().strip());
        assertTrue(Commands.run("head", "-c1", device).output().contains("Permission denied"));
        installation.succeed("mount", "-o", "remount,ro", mountPoint);
        assertTrue(mountLine().contains(" ro,nosuid,nodev,"), mountLine());
        installation.succeed("sdfscli", VOLUME, "unmount");

        mount("-o", "allow_suid,allow_dev");
        assertEquals("0", asNobody(program, "-u").output().strip());
        assertEquals("", Commands.succeed("head", "-c1", device));
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
        try (Holder holder = Holder.writing(file)) {
            assertNotEquals(0, Commands.run("umount", mountPoint).exitCode());
            Commands.Result refused = installation.run("sdfscli", VOLUME, "unmount");
            assertEquals(1, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains(holder.pid() + " (sleep)"), refused::output);
            Files.writeString(mountPoint.resolve("goes on"), "yes");
        }
        try (Holder holder = Holder.workingIn(mountPoint)) {
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
        ProcessHandle daemon = installation.daemon(VOLUME);
        try (Holder holder = Holder.writing(file)) {
            Commands.succeed("umount", "-l", mountPoint);
            assertFalse(isMounted());
            assertTrue(daemon.isAlive());
            Commands.Result refused = tryMount();
            assertEquals(32, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains("umount -l"), refused::output);
            assertTrue(refused.output().contains(holder.pid() + " (sleep)"), refused::output);
            assertTrue(installation.succeed("sdfscli", "--list").contains("detached"));
        }
        daemon.onExit().get(30, TimeUnit.SECONDS);
        mount();
        assertEquals("ready", Files.readString(file).strip());
    }

    @Test
    void aKilledDaemonLeavesADeadMountThatTheNextMountClearsAway() throws Exception {
        mount();
        Bytes.writeAndSync(mountPoint.resolve("synced"), Bytes.random(7, 100_000));
        ProcessHandle daemon = installation.daemon(VOLUME);
        daemon.destroyForcibly();
        daemon.onExit().get(30, TimeUnit.SECONDS);
        Commands.Result dead = Commands.run("ls", mountPoint);
        assertTrue(dead.output().contains("Transport endpoint is not connected"), dead::output);

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
        ProcessHandle daemon = installation.daemon(VOLUME);
        try (Holder holder = Holder.writing(file)) {
            daemon.destroy();
            daemon.onExit().get(60, TimeUnit.SECONDS);
            assertFalse(isMounted());
        }
        mount();
        assertEquals("ready", Files.readString(file).strip());
    }

    @Test
    void aUserMountsInAFolderOfHisOwnAndUnmounts() throws IOException {
        assumeTrue(
                asNobody("test", "-w", "/dev/fuse").exitCode() == 0,
                "needs a /dev/fuse that users may open, as udev makes it (mode 0666)");
        Path own = Files.createDirectory(folder.resolve("own"));
        Commands.succeed("chmod", "-R", "a+rX", folder.resolve("prefix"));
        Commands.succeed("chmod", "755", folder);
        Commands.succeed("chown", "65534:65534", own);
        Path place = own.resolve("mnt");
        // Without HOME, or any other variable.
        String shell = "export SDFS_CONFIG_DIR=" + own + "/etc; cd " + own + "; PATH=" + folder
                + "/prefix/bin:$PATH; mkdir mnt; "
                + "mkfs.sdfs --volume-name=own --volume-capacity=1GB --memory-budget=256MB"
                + " --base-path=" + own + "/base && mount.sdfs own mnt && echo mine > mnt/file && grep '" + place
                + " ' /proc/mounts && fusermount3 -u mnt && mount.sdfs -o ro own mnt "
                + "&& cat mnt/file && sdfscli own unmount"
                + " && mount.sdfs -o allow_other own mnt";
        Commands.Result result = asNobody("bash", "-c", shell);
        assertTrue(result.output().contains("nosuid,nodev"), result::output);
        assertTrue(result.output().contains("\nmine\n"), result::output);
        boolean permitted = Files.exists(Path.of("/etc/fuse.conf"))
                && Files.readAllLines(Path.of("/etc/fuse.conf")).contains("user_allow_other");
        if (permitted) {
            assertEquals(0, result.exitCode(), result::output);
            Commands.succeed("umount", place);
        } else {
            assertEquals(1, result.exitCode(), result::output);
            assertTrue(result.output().contains("user_allow_other"), result::output);
        }
    }

    @Test
    void theLinksGoWithTheInstallationAndOnlyThose(@TempDir Path other) throws IOException {
        Commands.succeed("chmod", "777", other);
        Path prefix = other.resolve("prefix");
        String shell = Installation.projectFolder().resolve("scripts/install") + " --prefix=" + prefix;
        // As a user, if the user can read the project.
        Commands.Result installed = asNobody("bash", "-c", shell);
        assumeFalse(installed.output().contains("Permission denied"), "needs a project folder that others may read");
        assertEquals(0, installed.exitCode(), installed::output);
        assertTrue(Files.isExecutable(prefix.resolve("bin/sdfscli")));
        Commands.Result removed = asNobody("bash", "-c", shell + " --uninstall");
        assertEquals(0, removed.exitCode(), removed::output);
        assertFalse(Files.exists(prefix.resolve("bin/sdfscli"), LinkOption.NOFOLLOW_LINKS));
        assertFalse(Files.exists(prefix.resolve("lib/sdfs")));
        // The control: the other installation's links still exist.
        for (Path link : Installation.HELPER_LINKS) {
            assertTrue(Files.exists(link), link.toString());
        }
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

    private boolean isMounted() throws IOException {
        return mountLines() > 0;
    }

    private long mountLines() throws IOException {
        return Files.readAllLines(Path.of("/proc/mounts")).stream()
                .filter(this::isOurs)
                .count();
    }

    private String mountLine() throws IOException {
        return Files.readAllLines(Path.of("/proc/mounts")).stream()
                .filter(this::isOurs)
                .findFirst()
                .orElse("not mounted");
    }

    private boolean isOurs(String line) {
        return line.startsWith(VOLUME + " " + mountPoint.toString().replace(" ", "\\040") + " fuse.sdfs ");
    }

    private static Commands.Result asNobody(Object... command) throws IOException {
        List<Object> words = new ArrayList<>(List.of("bash", "-c", AS_NOBODY + "\"$@\"", "as-nobody"));
        words.addAll(List.of(command));
        return Commands.run(words.toArray());
    }

    /** umount returns before the volume is closed. */
    private void awaitClosed() throws IOException {
        for (int i = 0; i < 600; i++) {
            if (installation.succeed("sdfscli", VOLUME, "info").contains("not mounted")) {
                return;
            }
        }
        throw new AssertionError("the volume is not closed");
    }

    /** A program that uses the mount until it is closed. */
    private record Holder(Process process) implements AutoCloseable {
        /** Appends the line "ready" and keeps the file open. */
        static Holder writing(Path file) throws IOException {
            return start("exec 5>>\"$0\"; echo ready >&5; echo; exec sleep 300", file);
        }

        static Holder workingIn(Path folder) throws IOException {
            return start("cd \"$0\"; echo; exec sleep 300", folder);
        }

        private static Holder start(String shell, Path path) throws IOException {
            Process process = new ProcessBuilder("bash", "-c", shell, path.toString()).start();
            BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
            assertEquals("", output.readLine());
            return new Holder(process);
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
