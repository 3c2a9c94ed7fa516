package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.jmx.VolumeRegistration;

@Timeout(30)
class VolumeDaemonTest {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();
    private static final ObjectName OBJECT_NAME = VolumeRegistration.objectName("pool0");

    @TempDir
    Path folder;

    private final FakeMountService service = new FakeMountService();
    private RunFiles files;
    private VolumeDaemon daemon;

    @BeforeEach
    void define() {
        VolumeDefinition definition = Definitions.plain("pool0", folder.resolve("base"));
        files = new RunFiles(definition, RunFiles.runFolder(definition));
        daemon = daemon("");
    }

    private VolumeDaemon daemon(String options) {
        return new VolumeDaemon(
                folder.resolve("pool0-volume-cfg.xml"),
                files,
                folder.resolve("mnt"),
                options,
                service,
                null,
                ServiceManager.NONE,
                Map.of());
    }

    @Test
    void closesTheVolumeAfterTheMountHasEndedAndClearsUp() throws Exception {
        var serving = serve();
        assertTrue(Files.exists(files.socket()));
        ask("unmount");
        serving.get();
        assertEquals(List.of("mount pool0 ", "unmount", "close"), service.events);
        assertFalse(Files.exists(files.socket()));
        assertFalse(SERVER.isRegistered(OBJECT_NAME));
        assertEquals(Optional.empty(), ControlSocket.ask(files.socket(), "ping"));
    }

    @Test
    void showsTheSameFiguresOverTheSocketAndJmx() throws Exception {
        var serving = serve();
        Map<String, Object> stats = ask("stats");
        assertEquals(4000, stats.get("logicalBytes"));
        assertEquals(2.0, stats.get("dedupRatio"));
        assertEquals(4.0, stats.get("reductionRatio"));
        assertEquals(ProcessHandle.current().pid(), ((Number) stats.get("pid")).longValue());
        assertTrue(((Number) stats.get("rssBytes")).longValue() > 1 << 20);
        for (var attribute : SERVER.getMBeanInfo(OBJECT_NAME).getAttributes()) {
            String name = attribute.getName();
            String key = name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1);
            assertTrue(stats.containsKey(key), key);
            assertTrue(attribute.getDescription().contains(" "), attribute.getDescription());
            // A thread in the background may log something meanwhile.
            if (!key.equals("rssBytes") && !key.equals("uptimeSeconds") && !key.startsWith("logged")) {
                Object value = SERVER.getAttribute(OBJECT_NAME, name);
                assertEquals(
                        stats.get(key).toString(),
                        value instanceof Object[] list ? List.of(list).toString() : value.toString());
            }
        }
        assertEquals("name", stats.keySet().iterator().next());
        assertEquals(
                SERVER.getMBeanInfo(OBJECT_NAME).getAttributes().length + 3,
                stats.size(),
                "the bean's values, sar, the fast tier and the wear of the SSD");
        assertEquals(1000L, SERVER.getAttribute(OBJECT_NAME, "StoredBytes"));
        daemon.requestStop();
        serving.get();
    }

    @Test
    void keepsTheSocketToItsOwner() throws Exception {
        var serving = serve();
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(files.socket())));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(files.runFolder())));
        daemon.requestStop();
        serving.get();
    }

    /** A command that waits for the end learns of it, and so does the next mount. */
    @Test
    void tellsWhoUnmountsAndTheNextMountThatTheClosingFailed() throws Exception {
        var serving = serve();
        service.closingFailure = new IOException("Input/output error");
        Map<String, Object> answer = ask("unmount");
        assertEquals(false, answer.get("closed"));
        assertEquals("Input/output error", answer.get("error"));
        assertThrows(ExecutionException.class, serving::get);
        assertFalse(daemon.closedInOrder());

        service.closingFailure = null;
        daemon = daemon("");
        serving = serve();
        String end = String.valueOf(ask("ping").get(VolumeDaemon.LAST_END));
        assertTrue(end.contains("Input/output error"), end);
        assertEquals(true, ask("unmount").get("closed"));
        serving.get();
        assertTrue(daemon.closedInOrder());

        daemon = daemon("");
        serving = serve();
        assertFalse(ask("ping").containsKey(VolumeDaemon.LAST_END), "the control: the last closing was in order");
        daemon.requestStop();
        serving.get();
    }

    /** As after kill -9, or where the record of a loss could not be written. */
    @Test
    void tellsThatTheLastDaemonDidNotCloseTheVolume() throws Exception {
        Files.createDirectories(files.runFolder());
        Files.writeString(files.lastEnd(), "{\"pid\":77,\"at\":\"2026-01-02T03:04:05Z\"}");
        var serving = serve();
        String end = String.valueOf(ask("ping").get(VolumeDaemon.LAST_END));
        assertTrue(end.contains("process 77"), end);
        daemon.requestStop();
        serving.get();
        assertFalse(Files.exists(files.lastEnd()));
    }

    /** What a killed daemon left is not in the object store, for example; the control is the test before. */
    @Test
    void aMountForReadingLeavesTheRecordOfTheLastDaemon() throws Exception {
        Files.createDirectories(files.runFolder());
        String record = "{\"pid\":77,\"at\":\"2026-01-02T03:04:05Z\"}";
        Files.writeString(files.lastEnd(), record);
        daemon = daemon("ro");
        var serving = serve();
        daemon.requestStop();
        serving.get();
        assertEquals(record, Files.readString(files.lastEnd()));
        service.closingFailure = new IOException("Input/output error");
        daemon = daemon("ro");
        var failing = serve();
        daemon.requestStop();
        assertThrows(ExecutionException.class, failing::get);
        LastEnd end = new LastEnd(files.lastEnd());
        assertTrue(end.foundOf(ProcessHandle.current().pid()).orElseThrow().lost());
        assertEquals(Optional.empty(), end.foundOf(77));
    }

    @Test
    void saysWhyNothingCanBeChangedAndTakesChangesAgain() throws Exception {
        var serving = serve();
        service.stopped = "the disk still fails";
        assertEquals("the disk still fails", ask("ping").get(VolumeDaemon.STOPPED));
        IOException e = assertThrows(IOException.class, () -> ask(VolumeCommands.RESUME));
        assertTrue(e.getMessage().contains("still fails"), e.getMessage());
        service.stopped = "it failed";
        assertEquals(true, ask(VolumeCommands.RESUME).get(VolumeCommands.RESUMED));
        assertFalse(ask("ping").containsKey(VolumeDaemon.STOPPED));
        assertEquals(false, ask(VolumeCommands.RESUME).get(VolumeCommands.RESUMED));
        daemon.requestStop();
        serving.get();
    }

    @Test
    void refusesToUnmountWhatIsBusyAndStays() throws Exception {
        var serving = serve();
        service.busy = true;
        var e = assertThrows(IOException.class, () -> ask("unmount"));
        assertTrue(e.getMessage().contains("busy"), e.getMessage());
        assertEquals("mounted", ask("ping").get("state"));
        daemon.requestStop();
        serving.get();
    }

    @Test
    void mountsNothingWhenItWasAskedToEndBefore() throws Exception {
        daemon.requestStop();
        daemon.serve(() -> {});
        assertEquals(List.of(), service.events);
        assertTrue(daemon.awaitEnd(Duration.ZERO));
    }

    @Test
    void refusesASecondDaemonButNotALeftOverLockAndSocket() throws Exception {
        Files.createDirectories(files.runFolder());
        Files.createFile(files.lock());
        Files.createFile(files.socket());
        var serving = serve();
        var e = assertThrows(CommandFailedException.class, () -> daemon("").serve(() -> {}));
        assertTrue(e.getMessage().contains("served by another process"), e.getMessage());
        assertEquals("mounted", ask("ping").get("state"));
        daemon.requestStop();
        serving.get();
    }

    /** As a machine that was left behind does it, whose metadata come from the object store again. */
    @Test
    void anOpeningThatReplacesTheMetadataIsNoRemovalOfThem() throws Exception {
        Path lock = Files.writeString(folder.resolve("lock"), "1");
        List<Path> gone = new ArrayList<>();
        service.opening = () -> {
            Files.move(lock, folder.resolve("diverged"));
            Files.writeString(lock, "2");
        };
        try (LockWatch watch = new LockWatch(lock, gone::add);
                LockWatch early = new LockWatch(lock, path -> gone.add(Path.of("early")))) {
            early.begin();
            daemon.serve(() -> {
                watch.begin();
                watch.look();
                daemon.requestStop();
            });
            assertEquals(List.of(), gone);
            early.look();
            assertEquals(List.of(Path.of("early")), gone, "the control");
        }
    }

    @Test
    void leavesNothingBehindWhenTheVolumeDoesNotOpen() {
        daemon = daemon("noexec");
        var e = assertThrows(IOException.class, () -> daemon.serve(() -> {}));
        assertEquals("the fake volume does not open", e.getMessage());
        assertFalse(Files.exists(files.socket()));
        assertFalse(SERVER.isRegistered(OBJECT_NAME));
        assertTrue(daemon.hasEnded());
    }

    /** Serves in a thread; returns when the volume is mounted. */
    private FutureTask<Void> serve() throws Exception {
        var task = new FutureTask<Void>(() -> {
            daemon.serve(() -> {});
            return null;
        });
        new Thread(task, "serve").start();
        while (!ControlSocket.ask(files.socket(), "ping")
                .map(state -> state.get("state"))
                .equals(Optional.of("mounted"))) {
            if (task.isDone()) {
                try {
                    task.get();
                } catch (ExecutionException e) {
                    throw new AssertionError("the daemon ended early", e);
                }
            }
            Thread.sleep(5);
        }
        return task;
    }

    private Map<String, Object> ask(String command) throws IOException {
        return ControlSocket.ask(files.socket(), command).orElseThrow();
    }
}
