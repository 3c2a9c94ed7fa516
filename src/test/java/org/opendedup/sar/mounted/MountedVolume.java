package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.objects.S3Gateway;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.daemon.DaemonProcess;
import org.opendedup.sar.sdfs.cli.report.Json;

/**
 * A volume made and mounted by the project's own commands, in a separate folder. The commands and the daemon run in
 * this JVM, unless the test wants a process for the daemon or {@code -Dsar.processes=true} one for each. Closing the
 * volume ends its daemon.
 */
final class MountedVolume implements AutoCloseable {
    private static final int END_SECONDS = 60;
    /** Of a volume made with --encrypt. */
    static final String PASSPHRASE = "correct horse battery staple";

    private static final boolean ALL_IN_PROCESSES = Boolean.getBoolean("sar.processes");

    private final Path folder;
    private final Path base;
    private final Path data;
    private final Path hashDb;
    private final String name;
    private final Path mountPoint;
    private String options = "rw";
    /** What mount.sdfs is told to mount: the name, or the address of an object store. */
    private String source;

    private String umask = "";
    private boolean ownProcess = ALL_IN_PROCESSES;
    private final Map<String, String> variables = new HashMap<>();
    private final InThisJvm here = new InThisJvm();
    /** The daemon's process, if it has its own. */
    private Optional<ProcessHandle> daemon = Optional.empty();

    /** Makes a volume, all of it in {@code folder}; its name is the folder's. */
    static MountedVolume make(Path folder) throws IOException {
        return make(folder, folder.resolve("data"));
    }

    /** Makes a volume with its containers in {@code data}. */
    static MountedVolume make(Path folder, Path data) throws IOException {
        return make(folder, data, "100GB");
    }

    /** Makes a volume, all of it in {@code folder}, with a capacity of this number of logical bytes. */
    static MountedVolume makeWithCapacity(Path folder, String capacity) throws IOException {
        return make(folder, folder.resolve("data"), capacity);
    }

    /** Makes a volume, all of it in {@code folder}, with further options of mkfs.sdfs. */
    static MountedVolume makeWith(Path folder, String... options) throws IOException {
        return make(folder, folder.resolve("data"), "100GB", options);
    }

    /** As {@link #makeWith}; its commands run under this umask, which is an octal number. */
    static MountedVolume makeUnder(String umask, Path folder, String... options) throws IOException {
        MountedVolume volume =
                new MountedVolume(folder, folder.resolve("base"), folder.resolve("data"), folder.resolve("hashdb"));
        volume.umask = umask;
        return make(volume.inItsOwnProcess(), "100GB", options);
    }

    /** Makes a volume with its index in {@code hashDb}. */
    static MountedVolume makeWithHashDb(Path folder, Path hashDb) throws IOException {
        return make(new MountedVolume(folder, folder.resolve("base"), folder.resolve("data"), hashDb), "100GB");
    }

    /**
     * Makes a volume with all that it stores on {@code disk}; the volume file and the mount point are in the folder.
     */
    static MountedVolume makeOn(Path disk, Path folder) throws IOException {
        return make(
                new MountedVolume(folder, disk.resolve("base"), disk.resolve("data"), disk.resolve("hashdb")), "100GB");
    }

    /**
     * A machine that has nothing of the volume in an object store. It is mounted by the store's address; its name is
     * the folder's.
     */
    static MountedVolume ofStore(Path folder, String address) throws IOException {
        Path base = folder.resolve("config/volumes").resolve(folder.getFileName());
        MountedVolume volume =
                new MountedVolume(folder, base, base.resolve("chunkstore/chunks"), base.resolve("chunkstore/hdb"));
        volume.source = address;
        return volume;
    }

    private static MountedVolume make(Path folder, Path data, String capacity, String... more) throws IOException {
        return make(new MountedVolume(folder, folder.resolve("base"), data, folder.resolve("hashdb")), capacity, more);
    }

    private static MountedVolume make(MountedVolume volume, String capacity, String... more) throws IOException {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "needs /dev/fuse");
        assumeTrue(Commands.succeed("id", "-u").strip().equals("0"), "needs root, to mount");
        List<String> options = new ArrayList<>(List.of(
                "--volume-name=" + volume.name,
                "--volume-capacity=" + capacity,
                "--base-path=" + volume.base,
                "--chunk-store-data-location=" + volume.data(),
                "--chunk-store-hashdb-location=" + volume.hashDb()));
        options.addAll(List.of(more));
        if (options.stream().noneMatch(option -> option.startsWith("--memory-budget="))) {
            options.add("--memory-budget=512MB");
        }
        Commands.Result result = volume.script("mkfs.sdfs", options);
        assertEquals(0, result.exitCode(), result::output);
        return volume;
    }

    private MountedVolume(Path folder, Path base, Path data, Path hashDb) throws IOException {
        this.folder = folder;
        this.base = base;
        this.source = folder.getFileName().toString();
        this.data = data;
        this.hashDb = hashDb;
        this.name = folder.getFileName().toString();
        this.mountPoint = Files.createDirectories(folder.resolve("mnt"));
        Files.createDirectories(configFolder());
        variables.put("SDFS_CONFIG_DIR", configFolder().toString());
        variables.put("SDFS_PASSPHRASE", PASSPHRASE);
        variables.putAll(S3Gateway.variables());
        // A daemon lives for seconds here: compilations for hours would cost more than they save.
        variables.put("SDFS_JAVA_OPTS", ALL_IN_PROCESSES ? "" : "-XX:TieredStopAtLevel=1");
    }

    /** Starts daemons as processes from now on: a test that kills needs one. */
    MountedVolume inItsOwnProcess() {
        ownProcess = true;
        return this;
    }

    /** Sets a system property of daemons that start from now on; its name begins with {@code sar}. */
    MountedVolume withProperty(String property, Object value) {
        variables.merge("SDFS_JAVA_OPTS", "-D" + property + "=" + value, (before, more) -> before + " " + more);
        return this;
    }

    /** Makes daemons that start from now on commit only what asks for it: a commit by time would store more. */
    MountedVolume withoutTimedCommits() {
        return withProperty("sar.commit.period.ms", 3_600_000);
    }

    /** Sets the passphrase of commands from now on. */
    MountedVolume withPassphrase(String passphrase) {
        variables.put("SDFS_PASSPHRASE", passphrase);
        return this;
    }

    Path mountPoint() {
        return mountPoint;
    }

    Path data() {
        return data;
    }

    Path configFolder() {
        return folder.resolve("config");
    }

    Path hashDb() {
        return hashDb;
    }

    Path metadata() {
        return base.resolve("ddb");
    }

    Path log() {
        return base.resolve("log").resolve(name + ".log");
    }

    String name() {
        return name;
    }

    Commands.Result script(String script, List<String> options) throws IOException {
        boolean needsProcess = ALL_IN_PROCESSES || !umask.isEmpty() || ownProcess && script.equals("mount.sdfs");
        if (!needsProcess && InThisJvm.COMMANDS.contains(script)) {
            return here.run(variables, script, options);
        }
        List<String> command = new ArrayList<>();
        if (!umask.isEmpty()) {
            command.addAll(List.of("sh", "-c", "umask " + umask + "; exec \"$@\"", "sh"));
        }
        command.add(Commands.projectFolder().resolve("scripts").resolve(script).toString());
        command.addAll(options);
        return Commands.run(variables, command);
    }

    /** Runs {@code sdfscli} for this volume. */
    Commands.Result cli(String... words) throws IOException {
        return script(
                "sdfscli", Stream.concat(Stream.of(name), Stream.of(words)).toList());
    }

    /** As {@link #cli}, and must succeed. Returns what it says. */
    String run(String... words) throws IOException {
        Commands.Result result = cli(words);
        assertEquals(0, result.exitCode(), result::output);
        return result.output();
    }

    /** As {@link #run}, with {@code --json}. */
    Map<String, Object> json(String... words) throws IOException {
        return Json.read(
                run(Stream.concat(Stream.of(words), Stream.of("--json")).toArray(String[]::new)));
    }

    /** Uses these mount options from now on. */
    MountedVolume with(String mountOptions) {
        options = mountOptions;
        return this;
    }

    /** Tries to mount, here or elsewhere; the caller checks the result. */
    Commands.Result tryMount(Path where) throws IOException {
        return script("mount.sdfs", List.of("-o", options, source, where.toString()));
    }

    MountedVolume mount() throws IOException {
        Commands.Result result = tryMount(mountPoint);
        assertEquals(0, result.exitCode(), result::output);
        assertTrue(isMounted(), () -> "mount.sdfs said all was well, but nothing is mounted: " + result.output());
        try {
            return adopt(pidIn(result.output()));
        } catch (RuntimeException | Error e) {
            // Nothing made it close.
            Commands.run("umount", mountPoint);
            throw e;
        }
    }

    private static long pidIn(String output) {
        Matcher matcher = Pattern.compile("Mounted .*, process (\\d+)").matcher(output);
        assertTrue(matcher.find(), () -> "no process in " + output);
        return Long.parseLong(matcher.group(1));
    }

    /** Takes over a daemon that {@link #tryMount} started as the one of this volume. */
    MountedVolume adopt() throws IOException {
        return ownProcess ? adopt(figure("info", "pid")) : this;
    }

    private MountedVolume adopt(long pid) {
        daemon = ownProcess ? ProcessHandle.of(pid) : Optional.empty();
        return this;
    }

    /** The number of the daemon's process: that of this one if it has none of its own. */
    long pid() {
        return daemon.orElseGet(ProcessHandle::current).pid();
    }

    boolean isMounted() throws IOException {
        return Files.readString(Path.of("/proc/self/mountinfo")).contains(" " + mountPoint + " ");
    }

    /** A figure of {@code sdfscli <volume> info|stats --json}. */
    long figure(String command, String key) throws IOException {
        String output = run(command, "--json");
        Matcher matcher = Pattern.compile("\"" + key + "\"\\s*:\\s*(\\d+)").matcher(output);
        assertTrue(matcher.find(), () -> "no " + key + " in " + output);
        return Long.parseLong(matcher.group(1));
    }

    /** Unmounts, and waits for the daemon to end. */
    void unmount() throws IOException {
        Commands.succeed("umount", mountPoint);
        awaitEnd();
    }

    void remount() throws IOException {
        unmount();
        mount();
    }

    /** Ends the daemon like a crash (SIGKILL), and removes the dead mount. */
    void kill() throws IOException {
        daemon.orElseThrow().destroyForcibly();
        awaitEnd();
        deleteStatusSocket();
        Commands.succeed("umount", "-l", mountPoint);
    }

    private void awaitEnd() throws IOException {
        if (daemon.isEmpty()) {
            here.awaitEnd();
            return;
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
        // Nobody may collect the ended process for a while: then it is a zombie.
        while (DaemonProcess.isAlive(pid())) {
            assertTrue(System.nanoTime() < deadline, () -> "the daemon still runs after " + END_SECONDS + " s");
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        daemon = Optional.empty();
    }

    /** Makes all reads use the volume's own store: the kernel writes back and forgets what it cached of this mount. */
    void dropKernelCaches() throws IOException {
        Commands.succeed("mount", "-i", "-o", "remount", mountPoint);
    }

    @Override
    public void close() throws IOException {
        String device =
                MountTable.read().top(mountPoint).map(MountTable.Entry::device).orElse("");
        try (OutputStream abort = InThisJvm.abortOf(device)) {
            if (isMounted()) {
                Commands.run("umount", "-l", mountPoint);
            }
            if (daemon.isPresent()) {
                daemon.get().destroyForcibly();
                deleteStatusSocket();
            }
            here.end(abort);
        }
    }

    /** A killed daemon leaves it; the next one of this name would take its place. */
    private void deleteStatusSocket() throws IOException {
        Files.deleteIfExists(RunFiles.statusSocket(name));
    }
}
