package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.PrivateFolder;
import org.opendedup.sar.keys.KeyHeaderCopies;
import org.opendedup.sar.sdfs.cli.command.CallingUser;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.mounts.MountPlaces;
import org.opendedup.sar.sdfs.cli.mounts.VolumeFolders;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.sdfs.keys.SecretSource;
import org.opendedup.sar.sdfs.keys.VolumeKeyHeader;

/** Starts a volume's daemon and waits until its mount answers: the work of mount.sdfs, for all its callers. */
public final class DaemonStart {
    /** Time limit for opening, which may include recovery or rebuilding the index. The daemon continues after it. */
    private static final long OPEN_SECONDS_MAX = 600;

    /** Time limit for an old daemon that is just closing the volume. */
    private static final long CLOSE_SECONDS_MAX = 120;

    /** Time for which programs use a detached mount before it counts as in use: one that is ending has some briefly. */
    private static final long USED_SECONDS = 3;

    /** Time after which a message says what is waited for. */
    private static final long SILENT_SECONDS = 2;

    /** Time limit for ending a daemon whose start was interrupted. */
    private static final long GIVE_UP_SECONDS_MAX = 30;

    private static final long POLL_MILLIS = 20;

    /** Time after which it is asked who uses a detached mount, and from one such look at all processes to the next. */
    private static final long LOOK_SECONDS = 1;

    /** Of the daemon, from -1000 (never ended) to 1000; see oom_score_adj in proc(5). */
    private static final int OOM_SCORE = -900;

    private static final int ERROR_LINES_MAX = 10;

    /**
     * No core dump has the keys: the limit keeps the kernel from writing one, and the filter (core(5)) leaves the heap
     * out of one that a program gets by a pipe, to which the limit does not apply. The JVM adds only mapped files.
     */
    private static final String NO_CORE_DUMP = "ulimit -c 0; echo 0 >/proc/self/coredump_filter; ";

    private final Environment environment;
    private final MountArguments arguments;
    private final VolumeOfStore ofStore;
    private final String options;
    private final boolean isReadOnly;
    private final MountService service;
    private final RunFiles files;
    private final Class<?> daemonClass;
    private final Launcher launcher;
    private VolumeDefinition definition;
    private DaemonMemory memory;
    /** The master key for the daemon; empty if the volume is not encrypted. */
    private byte[] master = {};

    /** Starts the daemon; tests serve the volume without a process of its own. */
    @FunctionalInterface
    public interface Launcher {
        /** @param input gives the process what the daemon reads, and closes the stream */
        Daemon start(ProcessBuilder daemon, Input input) throws IOException;
    }

    /** What a process reads. */
    @FunctionalInterface
    public interface Input {
        void writeTo(OutputStream input) throws IOException;
    }

    /** A daemon that runs in the background. */
    public interface Daemon {
        long pid();

        boolean isAlive() throws IOException;

        /** Asks it to end; does not wait for that. */
        void end();
    }

    /**
     * Reads the volume's definition, which of a volume in an object store is first made what the store says, and checks
     * the options.
     *
     * @param daemonClass class whose {@code main} is the daemon
     */
    public DaemonStart(
            Environment environment,
            MountService service,
            Class<?> daemonClass,
            Launcher launcher,
            MountArguments arguments)
            throws IOException, CommandFailedException {
        this.environment = environment;
        this.service = service;
        this.launcher = launcher;
        this.arguments = arguments;
        this.daemonClass = daemonClass;
        this.options = arguments.mountOptions(service);
        this.isReadOnly = service.isReadOnly(options);
        this.ofStore = new VolumeOfStore(environment, "mount.sdfs");
        arguments.volume = ofStore.named(arguments.volume, isReadOnly);
        this.definition = arguments.definition(environment);
        this.memory = arguments.memory(definition, options, service);
        this.files = environment.runFiles(definition);
    }

    public VolumeDefinition definition() {
        return definition;
    }

    /**
     * Checks whether the volume can be mounted there, waits for an old daemon that is just ending, and removes a dead
     * mount.
     *
     * @throws CommandFailedException if it cannot be mounted; the message has the reason
     */
    public void prepare() throws IOException, InterruptedException, CommandFailedException {
        PrivateFolder.at(environment.configDirectory().folder()).requireSafe();
        // Who can write to the volume file chooses which folders are taken for the volume's, and made private.
        PrivateFolder.at(environment.configDirectory().fileOf(arguments.volume)).requireSafe();
        // A user who can replace the socket can answer in place of the daemon.
        PrivateFolder.at(files.socketFolder()).requireSafe();
        MountPlaces.checkVolume(definition, environment.err());
        awaitUnserved();
        ofStore.again(arguments.volume, isReadOnly);
        // The process that it waited for, or a command, may have changed them.
        definition = arguments.definition(environment);
        memory = arguments.memory(definition, options, service);
        Path mountPoint = arguments.absoluteMountPoint();
        MountPlaces.checkMountPoint(mountPoint, environment.err());
        MountPlaces.checkApart(mountPoint, files, environment.configDirectory().folder());
        unlock();
    }

    /**
     * Opens the key header of an encrypted volume here, not in the daemon: this process can ask on the terminal, its
     * memory is free for Argon2id, and it ends.
     */
    private void unlock() throws IOException, CommandFailedException {
        SecretSource source = arguments.secretSource();
        VolumeKeyHeader header = VolumeKeyHeader.of(definition, source);
        if (header == null) {
            return;
        }
        try (KeyHeaderCopies.Unlocked unlocked = header.unlock(environment, source)) {
            if (!isReadOnly) {
                // A machine that has not had the volume yet has no copy.
                boolean isNew = definition.store() != null
                        && VolumeFileCopy.volumeIn(
                                        definition.config().locations().data())
                                == null;
                header.repair(unlocked, files.keyLock(), line -> {
                    if (!isNew) {
                        environment.err().println("mount.sdfs: " + line);
                    }
                });
            }
            master = unlocked.opened().master().clone();
        }
    }

    /** Starts the daemon, which outlives this process, and returns it when the mount answers. */
    public Daemon inBackground() throws IOException, InterruptedException, CommandFailedException {
        Daemon daemon = launcher.start(builder(false), this::hand);
        Thread interrupted = new Thread(() -> giveUp(daemon), "sdfs-interrupted");
        Runtime.getRuntime().addShutdownHook(interrupted);
        try {
            awaitMount(daemon);
        } finally {
            removeHook(interrupted);
        }
        return daemon;
    }

    /**
     * Ends the daemon after Ctrl-C, because the user no longer wants the mount. This process's exit code is 130
     * (SIGTERM: 143).
     */
    private void giveUp(Daemon daemon) {
        daemon.end();
        try {
            long began = System.nanoTime();
            while (daemon.isAlive() && !hasPassed(GIVE_UP_SECONDS_MAX, began)) {
                Thread.sleep(POLL_MILLIS);
            }
            boolean ended = !daemon.isAlive();
            environment
                    .err()
                    .println("mount.sdfs: interrupted; "
                            + (ended
                                    ? "the volume '" + arguments.volume + "' is not mounted"
                                    : "process " + daemon.pid() + " still opens the volume, and ends then; see "
                                            + files.log()));
            environment.err().flush();
        } catch (IOException e) {
            environment.err().println("mount.sdfs: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Removes the hook. If this process is already ending, the hook decides about the mount, and this thread waits
     * without any further message.
     */
    private static void removeHook(Thread hook) throws InterruptedException {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ending) {
            new CountDownLatch(1).await();
        }
    }

    /** Runs the daemon until it ends; returns its exit code. */
    public int inForeground() throws IOException, InterruptedException {
        Process daemon = builder(true).start();
        hand(daemon.getOutputStream());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> endWith(daemon), "sdfs-stop"));
        return daemon.waitFor();
    }

    /**
     * Refuses a second mount. Waits for a daemon that has unmounted: umount returns before the volume is closed, and a
     * busy daemon notices late that it was unmounted.
     */
    private void awaitUnserved() throws IOException, InterruptedException, CommandFailedException {
        long began = System.nanoTime();
        Long usedSince = null;
        boolean isSaid = false;
        while (isServed()) {
            Map<String, Object> state = ControlSocket.ping(files.socket()).orElse(Map.of());
            Object phase = state.getOrDefault("state", "");
            if (phase.equals(VolumeDaemon.Phase.OPENING.text()) || phase.equals(VolumeDaemon.Phase.MOUNTED.text())) {
                throw new CommandFailedException(servedAlready(state));
            }
            boolean looks = phase.equals(VolumeDaemon.DETACHED) && hasPassed(LOOK_SECONDS, began);
            List<?> users = looks ? users() : List.of();
            // From the end of the first look: a look at all processes of a busy machine may take longer than the use.
            usedSince = users.isEmpty() ? null : usedSince == null ? Long.valueOf(System.nanoTime()) : usedSince;
            if (usedSince != null && hasPassed(USED_SECONDS, usedSince)) {
                throw new CommandFailedException(usedStill(state, users));
            } else if (hasPassed(CLOSE_SECONDS_MAX, began)) {
                throw new CommandFailedException(closing(state) + " after " + CLOSE_SECONDS_MAX + " s; see "
                        + files.log() + ", and try again when it has ended");
            } else if (!isSaid && hasPassed(SILENT_SECONDS, began)) {
                environment.err().println("mount.sdfs: waiting: " + closing(state));
                isSaid = true;
            }
            Thread.sleep(looks ? TimeUnit.SECONDS.toMillis(LOOK_SECONDS) : POLL_MILLIS);
        }
    }

    /** Asks for the lock only if there may be a daemon: most mounts need the C library for nothing else. */
    private boolean isServed() throws IOException {
        return (Files.exists(files.socket()) || LockFile.isListed(files.lock())) && LockFile.isHeld(files.lock());
    }

    private static boolean hasPassed(long seconds, long sinceNanos) {
        return System.nanoTime() - sinceNanos >= TimeUnit.SECONDS.toNanos(seconds);
    }

    /** Asks who uses a mount that was detached; empty if nobody does, or there is no answer any more. */
    private List<?> users() {
        try {
            return ControlSocket.ask(files.socket(), VolumeCommands.INFO)
                                    .map(info -> info.get("users"))
                                    .orElse(null)
                            instanceof List<?> users
                    ? users
                    : List.of();
        } catch (IOException e) {
            return List.of();
        }
    }

    private String servedAlready(Map<String, Object> state) {
        return "the volume '" + arguments.volume + "' is " + state.get("state") + ", on " + state.get("mountPoint")
                + ", by process " + state.get("pid") + "; it cannot be mounted twice";
    }

    private String usedStill(Map<String, Object> state, List<?> users) {
        return "the volume '" + arguments.volume + "' was unmounted from " + state.get("mountPoint")
                + ", and is in use still, after umount -l or in another mount namespace, by process "
                + users.stream().map(String::valueOf).collect(Collectors.joining(", "))
                + "; it can be mounted when that ends, or when its process " + state.get("pid") + " is ended";
    }

    /** Says what the process does that serves the volume, as far as it answers. */
    private String closing(Map<String, Object> state) {
        Object pid = state.get("pid");
        return (pid == null ? "another process" : "process " + pid) + " still closes the volume '" + arguments.volume
                + "'";
    }

    private ProcessBuilder builder(boolean foreground) throws IOException {
        PrivateFiles.createFolders(files.logFolder());
        boolean isEncrypted = master.length > 0;
        var jvm = new DaemonJvm(
                memory, Runtime.version().feature(), CallingUser.isRoot(), isEncrypted, environment.javaOptions());
        // Files that libraries make, such as databases and logs, also belong to the owner only. Where memory is short,
        // the system ends programs before it ends what they work on. Only root may ask for that.
        String prepared = "umask 077; { echo " + OOM_SCORE + " >/proc/self/oom_score_adj; } 2>/dev/null; "
                + (isEncrypted ? NO_CORE_DUMP : "");
        List<String> command = new ArrayList<>();
        if (foreground) {
            command.addAll(List.of("/bin/sh", "-c", prepared + "exec \"$@\"", "sh"));
        } else {
            // In a session of its own, the daemon is not affected by the end of the terminal or by its Ctrl-C. It is no
            // child of this JVM, which would wait 0.3 s before it ends: so long it gives each thread that is in a call
            // of the system, as the one is that waits for a child. So the shell tells the process that it becomes.
            String start = "setsid --fork /bin/sh -c \"$0\" sh \"$@\"";
            // The shell waits for the key: the JVM closes the pipe to a process that has ended.
            String starter = isEncrypted
                    ? "ulimit -c 0; IFS= read -r key; echo \"$(printf '%s\\n' \"$key\" | " + start + ")\""
                    : "echo \"$(" + start + ")\"";
            command.addAll(List.of("/bin/sh", "-c", starter, prepared + "echo $$; exec \"$@\" >&2"));
        }
        command.addAll(jvm.command(files, foreground));
        command.add(daemonClass.getName());
        command.addAll(arguments.handedOn(options));
        var builder = new ProcessBuilder(command).directory(Path.of("/").toFile());
        builder.environment()
                .put("SDFS_CONFIG_DIR", environment.configDirectory().folder().toString());
        builder.environment().put("SDFS_RUN_DIR", files.socketFolder().toString());
        ServiceManager.forgetIfOfAnother(
                builder.environment(), ProcessHandle.current().pid());
        // Else RocksDB runs a shell with ldd, to learn the C library; this program needs glibc.
        builder.environment().putIfAbsent("ROCKSDB_MUSL_LIBC", "false");
        // glibc would give each of dozens of threads an arena of up to 64 MB; two keep native memory near its plan.
        builder.environment().putIfAbsent("MALLOC_ARENA_MAX", "2");
        SecretSource.withoutSecrets(builder);
        if (foreground) {
            builder.inheritIO();
        } else {
            builder.redirectInput(Path.of("/dev/null").toFile());
            PrivateFiles.createEmpty(files.console());
            // Appended to: the daemon empties the file while it has it open (DailyLine).
            builder.redirectError(
                    ProcessBuilder.Redirect.appendTo(files.console().toFile()));
        }
        if (isEncrypted) {
            builder.redirectInput(ProcessBuilder.Redirect.PIPE);
        }
        return builder;
    }

    /** Gives a process what the daemon reads, the master key in hexadecimal digits if there is one, and forgets it. */
    private void hand(OutputStream input) throws IOException {
        byte[] line = master.length == 0
                ? master
                : (HexFormat.of().formatHex(master) + "\n").getBytes(StandardCharsets.US_ASCII);
        // A pipe is in no list of processes and in no environment.
        try (input) {
            input.write(line);
        } finally {
            Arrays.fill(master, (byte) 0);
            Arrays.fill(line, (byte) 0);
        }
    }

    /**
     * Forwards SIGTERM, waits until the daemon has closed the volume, and exits with its code. The daemon limits the
     * time.
     */
    private static void endWith(Process daemon) {
        if (daemon.isAlive()) {
            daemon.destroy();
            Runtime.getRuntime().halt(daemon.onExit().join().exitValue());
        }
    }

    private void awaitMount(Daemon daemon) throws IOException, InterruptedException, CommandFailedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(OPEN_SECONDS_MAX);
        while (!isMounted(daemon)) {
            if (!daemon.isAlive()) {
                throw CommandFailedException.ofLines("the volume '" + arguments.volume + "' could not be mounted:\n"
                        + lastLines(files.console()) + "See also " + files.log());
            }
            if (System.nanoTime() > deadline) {
                throw new CommandFailedException("the volume '" + arguments.volume + "' is not mounted after "
                        + OPEN_SECONDS_MAX + " s; process " + daemon.pid() + " continues in the background; see "
                        + files.log());
            }
            Thread.sleep(POLL_MILLIS);
        }
        // Access the mount as the user will do next, so that a mount that does not answer fails here.
        Files.getAttribute(arguments.absoluteMountPoint(), "unix:mode");
    }

    private boolean isMounted(Daemon daemon) {
        Optional<Map<String, Object>> mounted = ControlSocket.ping(files.socket())
                .filter(state -> Long.toString(daemon.pid()).equals(String.valueOf(state.get("pid"))))
                .filter(state -> VolumeDaemon.Phase.MOUNTED.text().equals(state.get("state")));
        mounted.ifPresent(this::sayWhatWasNarrowed);
        mounted.map(state -> state.get(VolumeDaemon.LAST_END))
                .ifPresent(end -> environment.err().println("mount.sdfs: " + arguments.volume + ": " + end));
        return mounted.isPresent();
    }

    private void sayWhatWasNarrowed(Map<String, Object> state) {
        if (state.get(VolumeDaemon.NARROWED) instanceof Integer narrowed) {
            environment.err().println("mount.sdfs: " + VolumeFolders.report(narrowed));
        }
    }

    private static String lastLines(Path console) throws IOException {
        // Some of it may not be text: the JVM also writes there.
        List<String> lines = new String(Files.readAllBytes(console), StandardCharsets.UTF_8)
                .lines()
                .toList();
        List<String> last = lines.subList(Math.max(0, lines.size() - ERROR_LINES_MAX), lines.size());
        return last.isEmpty() ? "" : String.join("\n", last) + "\n";
    }
}
