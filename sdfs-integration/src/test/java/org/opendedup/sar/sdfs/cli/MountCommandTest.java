package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.FakeDaemon;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.ControlServer;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.daemon.DaemonProcess;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeOptions;

/** Starts real daemon processes, around a fake volume. */
@Timeout(60)
class MountCommandTest {
    @TempDir
    Path folder;

    private CommandOutput output;
    private VolumeDefinition definition;
    private Path mountPoint;

    @BeforeEach
    void makeAVolume() throws IOException {
        output = new CommandOutput(folder);
        definition = Definitions.plain("pool0", folder.resolve("base"));
        VolumeFile.write(new ConfigDirectory(folder).fileOf("pool0"), definition);
        Files.createDirectories(definition.config().locations().data());
        Files.createDirectories(definition.config().locations().metadata());
        Files.createDirectories(definition.config().locations().hashDb());
        mountPoint = Files.createDirectory(folder.resolve("mnt"));
    }

    @AfterEach
    void endTheDaemon() throws IOException {
        pid().ifPresent(pid -> pid.destroyForcibly());
    }

    /** Somebody may have put it in the place of an encrypted one. */
    @Test
    void aVolumeThatIsNotEncryptedIsNotMountedWithAPassphrase() throws IOException {
        assertEquals(
                ExitCode.FAILED, mount("pool0", mountPoint.toString(), "-o", "passphrase_file=" + folder.resolve("p")));
        assertTrue(output.err().contains("is not encrypted, and a passphrase or key is given"), output.err());
        assertTrue(pid().isEmpty());
    }

    @Test
    void returnsWhenTheDaemonHasMountedTheVolume() throws Exception {
        assertEquals(0, mount("pool0", mountPoint.toString(), "-o", "rw,nofail,x-systemd.automount"), output.err());
        assertTrue(output.out().contains("Mounted pool0 on " + mountPoint), output.out());
        ProcessHandle daemon = pid().orElseThrow();
        assertTrue(Files.readString(files().log()).contains("mounted pool0"));
        assertTrue(ProcessHandle.current().children().noneMatch(daemon::equals), "a JVM waits 0.3 s for its children");
        assertEquals(0, cli("pool0", "audit", "--json"), output.err());
        assertTrue(output.out().contains("\"pid\" : " + ProcessHandle.current().pid()), output.out());

        assertEquals(1, mount("pool0", mountPoint.toString()));
        assertTrue(output.err().contains("by process " + daemon.pid()), output.err());
        assertTrue(output.err().contains("cannot be mounted twice"), output.err());

        assertEquals(0, cli("pool0", "stats", "--json"), output.err());
        assertEquals(0, cli("pool0", "unmount"), output.err());
        daemon.onExit().get();
        String log = Files.readString(files().log());
        assertTrue(log.contains("volume pool0 closed"), log);
    }

    /** A daemon that was unmounted and does not yet know it, or closes the volume; a program had it only briefly. */
    @Test
    void waitsForTheOldDaemonAndSaysSo() throws Exception {
        Files.createDirectories(files().runFolder());
        var state = Map.of("state", "detached", "pid", 4711, "mountPoint", "/mnt");
        var looks = new AtomicInteger();
        var mount = new FutureTask<>(() -> mount("pool0", mountPoint.toString()));
        try (LockFile old = LockFile.tryAcquire(files().lock()).orElseThrow();
                ControlServer control = ControlServer.start(
                        files().socket(),
                        Map.of(
                                VolumeCommands.PING, (arguments, caller) -> state,
                                VolumeCommands.INFO,
                                        (arguments, caller) -> Map.of(
                                                "users",
                                                looks.getAndIncrement() == 0 ? List.of("5 (cat)") : List.of())),
                        command -> "not known")) {
            new Thread(mount, "mount").start();
            TestWait.until(() ->
                    looks.get() > 1 && output.err().contains("waiting: process 4711 still closes the volume 'pool0'"));
            assertFalse(mount.isDone());
        }
        assertEquals(ExitCode.OK, mount.get(), output.err());
        assertEquals(0, cli("pool0", "unmount"), output.err());
    }

    /** As by {@code sdfscli set}, while the old daemon has the volume. */
    @Test
    void theNewDaemonGetsTheMemoryThatWasSetWhileItWaitedForTheOldOne() throws Exception {
        Files.createDirectories(files().runFolder());
        long before = definition.config().memoryBudgetBytes();
        var state = Map.of("state", "closing", "pid", 4711, "mountPoint", "/mnt");
        var mount = new FutureTask<>(() -> mount("pool0", mountPoint.toString()));
        try (LockFile old = LockFile.tryAcquire(files().lock()).orElseThrow();
                ControlServer control = ControlServer.start(
                        files().socket(),
                        Map.of(VolumeCommands.PING, (arguments, caller) -> state),
                        command -> "not known")) {
            new Thread(mount, "mount").start();
            TestWait.until(() -> output.err().contains("waiting: process 4711 still closes the volume 'pool0'"));
            VolumeFile.write(
                    new ConfigDirectory(folder).fileOf("pool0"),
                    definition.with(VolumeOptions.MEMORY_BUDGET, 4 * before));
        }
        assertEquals(ExitCode.OK, mount.get(), output.err());
        String line = Files.readString(Path.of("/proc/" + pid().orElseThrow().pid() + "/cmdline"));
        long heap = Long.parseLong(line.replaceFirst("(?s).*-Xmx(\\d+).*", "$1"));
        assertEquals(0, cli("pool0", "unmount"), output.err());
        assertTrue(heap > before, () -> heap + " bytes of heap; the budget was " + before);
    }

    /** The control of the above, and after {@code umount -l}. */
    @Test
    void doesNotWaitForProgramsThatUseADetachedMount() throws Exception {
        Files.createDirectories(files().runFolder());
        try (LockFile old = LockFile.tryAcquire(files().lock()).orElseThrow();
                ControlServer control = ControlServer.start(
                        files().socket(),
                        Map.of(
                                VolumeCommands.PING, (arguments, caller) -> Map.of("state", "detached", "pid", 4711),
                                VolumeCommands.INFO, (arguments, caller) -> Map.of("users", List.of("5 (cat)"))),
                        command -> "not known")) {
            assertEquals(ExitCode.FAILED, mount("pool0", mountPoint.toString()));
            assertTrue(output.err().contains("in use still, after umount -l"), output.err());
            assertTrue(output.err().contains("by process 5 (cat)"), output.err());
        }
    }

    /** As mount.sdfs -f starts it. */
    @Test
    void sigtermClosesTheVolumeAndEndsWithCode0() throws Exception {
        Process front = foreground();
        awaitMounted(front);
        front.destroy();
        assertEquals(ExitCode.OK, front.waitFor());
        assertFalse(Files.exists(files().socket()));
        String log = Files.readString(folder.resolve("foreground.log"));
        assertTrue(log.contains("volume pool0 closed"), log);
    }

    @Test
    void saysWhyTheDaemonDied() {
        assertEquals(ExitCode.FAILED, mount("-o", "noexec", "pool0", mountPoint.toString()));
        assertTrue(output.err().contains("the fake volume does not open"), output.err());
        assertTrue(output.err().contains(files().log().toString()), output.err());
    }

    @Test
    void saysWhatTheJvmSaidWhenItDidNotStart() {
        output.set("SDFS_JAVA_OPTS", "-XX:+NoSuchFlag");
        assertEquals(ExitCode.FAILED, mount("pool0", mountPoint.toString()));
        assertTrue(output.err().contains("NoSuchFlag"), output.err());
    }

    @Test
    void refusesAMissingDataLocationAndMakesNothing() throws IOException {
        Path data = definition.config().locations().data();
        Files.delete(data);
        assertEquals(ExitCode.FAILED, mount("pool0", mountPoint.toString()));
        assertTrue(output.err().contains("the data location " + data + " is missing"), output.err());
        assertFalse(Files.exists(data));
    }

    @Test
    void refusesAFolderOfTheControlSocketWhereOthersMayWrite() throws IOException {
        Path run = Files.createDirectory(folder.resolve("run"));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(run, PosixFilePermissions.fromString("rwxrwxrwx"));
        output.set("SDFS_RUN_DIR", run.toString());
        assertEquals(ExitCode.FAILED, mount("pool0", mountPoint.toString()));
        assertTrue(output.err().contains("chmod go-w " + run), output.err());
    }

    /** It could name any folder of the machine, which would then get mode 0700. */
    @Test
    void refusesAVolumeFileThatOthersMayWrite() throws IOException {
        Path file = new ConfigDirectory(folder).fileOf("pool0");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        for (String open : List.of("rw-rw----", "rw-----w-")) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(open));
            assertEquals(ExitCode.FAILED, mount("pool0", mountPoint.toString()));
            assertTrue(output.err().contains("chmod go-w " + file), output.err());
        }
        assertTrue(pid().isEmpty());
        // The control.
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertEquals(0, mount("pool0", mountPoint.toString()), output.err());
        assertEquals(0, cli("pool0", "unmount"), output.err());
    }

    @Test
    void refusesAnUnknownVolumeAndListsTheKnown() {
        assertEquals(ExitCode.NO_SUCH_VOLUME, mount("pool9", mountPoint.toString()));
        assertTrue(output.err().contains("no volume 'pool9'") && output.err().contains("known: pool0"), output.err());
    }

    @Test
    void refusesAMountPointThatIsNone() throws IOException {
        assertEquals(1, mount("pool0", folder.resolve("nowhere").toString()));
        assertTrue(output.err().contains("does not exist"), output.err());
        Path file = Files.createFile(folder.resolve("file"));
        assertEquals(1, mount("pool0", file.toString()));
        assertTrue(output.err().contains("is not a folder"), output.err());
        assertEquals(1, mount("pool0", "/proc"));
        assertTrue(output.err().contains("is mounted on /proc already"), output.err());
    }

    @Test
    void refusesUnknownMountOptionsAsUsage() {
        assertEquals(ExitCode.USAGE, mount("-o", "colour=red", "pool0", mountPoint.toString()));
        assertTrue(output.err().contains("'colour' is not known"), output.err());
    }

    @Test
    void refusesABudgetForThisMountThatIsTooSmall() {
        assertEquals(ExitCode.USAGE, mount("--memory-budget=1MB", "pool0", mountPoint.toString()));
        assertTrue(output.err().contains("at least 256MB"), output.err());
    }

    @Test
    void refusesABudgetForThisMountThatTheMachineDoesNotHave() {
        assertEquals(ExitCode.USAGE, mount("--memory-budget=1EB", "pool0", mountPoint.toString()));
        assertTrue(output.err().contains("and this machine has"), output.err());
    }

    private Process foreground() throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var builder = new ProcessBuilder(
                java,
                "-Dlogback.configurationFile=logback-foreground.xml",
                "-cp",
                System.getProperty("java.class.path"),
                FakeDaemon.class.getName(),
                "pool0",
                mountPoint.toString());
        builder.environment().put("SDFS_CONFIG_DIR", folder.toString());
        builder.redirectErrorStream(true)
                .redirectOutput(folder.resolve("foreground.log").toFile());
        return builder.start();
    }

    private void awaitMounted(Process front) throws IOException, InterruptedException {
        while (ControlSocket.ask(files().socket(), "ping")
                .filter(state -> "mounted".equals(state.get("state")))
                .isEmpty()) {
            assertTrue(front.isAlive());
            Thread.sleep(20);
        }
    }

    private RunFiles files() {
        return output.environment().runFiles(definition);
    }

    private Optional<ProcessHandle> pid() throws IOException {
        return ControlSocket.ask(files().socket(), "ping")
                .map(Map.class::cast)
                .flatMap(state -> ProcessHandle.of(((Number) state.get("pid")).longValue()));
    }

    private int mount(String... arguments) {
        var command =
                new MountCommand(output.environment(), new FakeMountService(), FakeDaemon.class, DaemonProcess::start);
        return CommandRunner.run(command, output.environment(), arguments);
    }

    private int cli(String... arguments) {
        return CommandRunner.run(new SdfsCli(output.environment()), output.environment(), arguments);
    }
}
