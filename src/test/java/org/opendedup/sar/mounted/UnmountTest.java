package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.disks.LoopDisk;

/**
 * umount(8) of an installed volume returns when its daemon has ended. A stopped daemon (SIGSTOP) stands for a slow one,
 * so that nothing depends on the speed of the machine.
 */
@Alone
class UnmountTest {
    private static final String VOLUME = "leaving";
    private static final Path NOTES = Path.of("/run/mount/utab");

    @TempDir
    Path folder;

    private LoopDisk disk;
    private Installation installation;
    private Path mountPoint;

    @BeforeEach
    void setUp() throws IOException {
        disk = new LoopDisk(folder, 1L << 30);
        installation = new Installation(folder);
        // With a character that the kernel escapes.
        mountPoint = Files.createDirectory(folder.resolve("a place"));
        installation.makeVolume(VOLUME, disk.folder().resolve("base"));
    }

    @AfterEach
    void tearDown() throws IOException {
        try (LoopDisk mounted = disk;
                Installation installed = installation) {
            if (installed != null) {
                Commands.run("umount", "-i", "-l", mountPoint);
                awaitNoDaemon();
            }
        }
    }

    @Test
    void theDiskOfAVolumeCanBeUnmountedAfterIt() throws IOException {
        for (int round = 0; round < 3; round++) {
            mount();
            Files.write(mountPoint.resolve("file" + round), Bytes.random(round, 20_000_000));
            ProcessHandle daemon = installation.daemon(VOLUME);
            String both = "umount \"$0\" && umount \"$1\"";
            Commands.Result unmounted = Commands.run("bash", "-c", both, mountPoint, disk.folder());
            assertEquals(0, unmounted.exitCode(), unmounted::output);
            assertTrue(hasEnded(daemon));
            assertFalse(isNoted());
            disk.mount();
        }
    }

    /** Also the control of the other tests. */
    @Test
    void withoutTheHelperItReturnsWhileTheDaemonHoldsTheDisk() throws Exception {
        ProcessHandle daemon = mountAndStop();
        try {
            assertEquals(0, Commands.run("umount", "-i", mountPoint).exitCode());
            assertTrue(daemon.isAlive());
            Commands.Result busy = Commands.run("umount", disk.folder());
            assertTrue(busy.output().contains("busy"), busy::output);
        } finally {
            goOn(daemon);
        }
        daemon.onExit().get(60, TimeUnit.SECONDS);
        disk.unmount();
        disk.mount();
    }

    @Test
    void itDoesNotWaitForEver() throws Exception {
        ProcessHandle daemon = mountAndStop();
        try {
            Commands.Result late =
                    Commands.run(Map.of("SDFS_UMOUNT_SECONDS", "1"), List.of("umount", mountPoint.toString()));
            assertEquals(32, late.exitCode(), late::output);
            assertTrue(
                    late.output().contains("process " + daemon.pid() + " is still closing the volume"), late::output);
            assertFalse(isMounted());
        } finally {
            goOn(daemon);
        }
        daemon.onExit().get(60, TimeUnit.SECONDS);
    }

    @Test
    void aLazyUnmountDoesNotWait() throws Exception {
        ProcessHandle daemon = mountAndStop();
        try {
            Commands.Result lazy = Commands.run("umount", "-l", mountPoint);
            assertEquals(0, lazy.exitCode(), lazy::output);
            assertEquals("", lazy.output());
            assertFalse(isMounted());
        } finally {
            goOn(daemon);
        }
        daemon.onExit().get(60, TimeUnit.SECONDS);
    }

    @Test
    void aBusyMountStaysAndAnotherPlaceOfItIsNotWaitedFor() throws IOException {
        mount();
        Path file = Files.writeString(mountPoint.resolve("open"), "x");
        Commands.Result busy = Commands.run("bash", "-c", "exec 5<\"$0\"; umount -v \"$1\"", file, mountPoint);
        assertEquals(32, busy.exitCode(), busy::output);
        assertTrue(busy.output().contains("busy"), busy::output);
        assertTrue(isMounted() && isNoted());

        Path other = Files.createDirectory(folder.resolve("other"));
        Commands.succeed("mount", "--bind", mountPoint, other);
        Commands.succeed("umount", other);
        Commands.succeed("mount", "--bind", mountPoint, other);
        ProcessHandle daemon = installation.daemon(VOLUME);
        Commands.succeed("umount", mountPoint);
        assertTrue(daemon.isAlive());
        assertEquals("x", Files.readString(other.resolve("open")));
        // A relative path: for an absolute one umount(8) calls statfs(2), which has no subtype, and there is no entry
        // for this place.
        Commands.succeed("bash", "-c", "cd \"$0\" && umount other", folder);
        assertTrue(hasEnded(daemon));
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
            Commands.succeed("umount", mountPoint);
            assertTrue(hasEnded(daemon));
            assertTrue(impostor.isAlive());
        } finally {
            impostor.destroyForcibly().waitFor();
        }
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

    /** Even if no process reaps it, as in a container whose first process does not. */
    private static boolean hasEnded(ProcessHandle daemon) throws IOException {
        Path stat = Path.of("/proc", Long.toString(daemon.pid()), "stat");
        return Files.notExists(stat) || Files.readString(stat).contains(") Z ");
    }

    private void awaitNoDaemon() throws IOException {
        String lock =
                disk.folder().resolve("base/run").resolve(VOLUME + ".lock").toString();
        Commands.run("timeout", "60", "bash", "-c", "while fuser -s \"$0\"; do sleep 0.1; done", lock);
    }

    private boolean isMounted() throws IOException {
        return Files.readString(Path.of("/proc/mounts")).contains(escaped(mountPoint) + " fuse.sdfs ");
    }

    private boolean isNoted() throws IOException {
        return Files.exists(NOTES) && Files.readString(NOTES).contains("TARGET=" + escaped(mountPoint) + " ");
    }

    private static String escaped(Path path) {
        return path.toString().replace(" ", "\\040");
    }
}
