package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
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
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.disks.LoopDisk;
import org.opendedup.sar.sdfs.cli.daemon.DaemonProcess;

/**
 * umount(8) of an installed volume returns when its daemon has ended. A stopped daemon (SIGSTOP) stands for a slow one,
 * so that nothing depends on the speed of the machine.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UnmountTest {
    private static final String VOLUME = "leaving";
    private static final Path NOTES = Path.of("/run/mount/utab");

    private Path folder;
    private Installation installation;
    private LoopDisk disk;
    private Path base;
    private Path mountPoint;

    @BeforeAll
    void install(@TempDir Path temporary) throws IOException {
        folder = temporary.toRealPath();
        installation = Installation.make(folder);
        disk = new LoopDisk(folder, 64 << 20);
        base = disk.folder().resolve("base");
        // With a character that the kernel escapes.
        mountPoint = Files.createDirectory(folder.resolve("a place"));
        installation.makeVolume(VOLUME, base);
    }

    @AfterAll
    void uninstall() throws IOException {
        try (Installation installed = installation;
                LoopDisk mounted = disk) {}
    }

    @AfterEach
    void leaveNothingMounted() throws IOException {
        Commands.run("umount", "-i", "-l", mountPoint);
        Installation.awaitClosed(base, VOLUME);
    }

    @Test
    void theDiskOfAVolumeCanBeUnmountedAfterIt() throws IOException {
        for (int round = 0; round < 3; round++) {
            mount();
            Files.write(mountPoint.resolve("file" + round), Bytes.random(round, 3_000_000));
            ProcessHandle daemon = installation.daemon(VOLUME);
            String both = "umount \"$0\" && umount \"$1\"";
            Commands.Result unmounted = installation.run("bash", "-c", both, mountPoint, disk.folder());
            assertEquals(0, unmounted.exitCode(), unmounted::output);
            assertFalse(DaemonProcess.isAlive(daemon.pid()));
            assertFalse(isNoted());
            disk.mount();
        }
    }

    /** Also the control of the other tests. */
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
        ProcessHandle daemon = installation.daemon(VOLUME);
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
        Process impostor = new ProcessBuilder(new ArrayList<>(List.of(
                        "setpriv",
                        "--reuid=65534",
                        "--clear-groups",
                        "bash",
                        "-c",
                        "echo; read",
                        "org.opendedup.sar.sdfs.cli.daemon.DaemonCommand",
                        "--",
                        VOLUME,
                        mountPoint.toString())))
                .start();
        try {
            assertEquals('\n', impostor.getInputStream().read());
            ProcessHandle daemon = installation.daemon(VOLUME);
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
        ProcessHandle daemon = installation.daemon(VOLUME);
        String hold = "own=\"$0\"\n" + Installation.LET_GO_OF_OTHERS + "echo; exec cat";
        Process holder = new ProcessBuilder(installation.inside("unshare", "-m", "bash", "-c", hold, folder)).start();
        try {
            assertEquals('\n', holder.getInputStream().read());
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
        ProcessHandle daemon = installation.daemon(VOLUME);
        Path metadata = base.resolve("ddb");
        Path away = Files.move(metadata, base.resolve("away"));
        Installation.awaitEnd(daemon);
        assertFalse(Files.exists(metadata));
        Files.move(away, metadata);
        mount();
        installation.succeed("umount", mountPoint);
    }

    private void mount() throws IOException {
        installation.succeed("mount", "-t", "sdfs", VOLUME, mountPoint);
        assertTrue(isMounted());
    }

    private ProcessHandle mountAndStop() throws IOException {
        mount();
        Files.write(mountPoint.resolve("file"), Bytes.random(1, 1_000_000));
        Commands.succeed("sync", mountPoint);
        ProcessHandle daemon = installation.daemon(VOLUME);
        Commands.succeed("kill", "-STOP", daemon.pid());
        return daemon;
    }

    private static void goOn(ProcessHandle daemon) throws IOException {
        Commands.succeed("kill", "-CONT", daemon.pid());
    }

    private boolean isMounted() throws IOException {
        return installation.mounts().contains(escaped(mountPoint) + " fuse.sdfs ");
    }

    private boolean isNoted() throws IOException {
        return Files.exists(NOTES) && Files.readString(NOTES).contains("TARGET=" + escaped(mountPoint) + " ");
    }

    private static String escaped(Path path) {
        return path.toString().replace(" ", "\\040");
    }
}
