package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.PrivateFolder;
import org.opendedup.sar.sdfs.config.VolumeDefinition;

/** Starts a volume's daemon and waits until its mount answers: what mount.sdfs does, whoever called it. */
final class DaemonStart {
    /** Opening may recover from a crash or rebuild the index; the daemon goes on when we stop waiting. */
    private static final long OPEN_SECONDS_MAX = 600;

    /** A daemon that is just closing the volume gets this long to end. */
    private static final long CLOSE_SECONDS_MAX = 120;

    /** After every umount the mount is gone a moment before its daemon notices; after this long, programs use it. */
    private static final long DETACHED_SECONDS_MAX = 3;

    private static final long POLL_MILLIS = 20;
    private static final int ERROR_LINES_MAX = 10;

    private final Environment environment;
    private final MountArguments arguments;
    private final VolumeDefinition definition;
    private final String options;
    private final DaemonMemory memory;
    private final RunFiles files;
    private final Class<?> daemonClass;

    /**
     * Reads the volume's definition and checks the options.
     *
     * @param daemonClass whose {@code main} is the daemon
     */
    DaemonStart(Environment environment, MountService service, Class<?> daemonClass, MountArguments arguments)
            throws IOException {
        this.environment = environment;
        this.arguments = arguments;
        this.daemonClass = daemonClass;
        this.definition = arguments.definition(environment);
        this.options = arguments.mountOptions(service);
        this.memory = arguments.memory(definition, options, service);
        this.files = environment.runFiles(definition);
    }

    VolumeDefinition definition() {
        return definition;
    }

    /**
     * Looks whether the volume can be mounted there, waits for an old daemon that is just ending, and clears a dead mount away.
     *
     * @throws CommandFailedException saying why it cannot be mounted
     */
    void prepare() throws IOException, InterruptedException, CommandFailedException {
        PrivateFolder.at(environment.configDirectory().folder()).requireSafe();
        // Whoever could replace the socket could answer for the daemon.
        PrivateFolder.at(files.socketFolder()).requireSafe();
        MountPlaces.checkVolume(definition, environment.err());
        awaitUnserved();
        Path mountPoint = arguments.absoluteMountPoint();
        MountPlaces.checkMountPoint(mountPoint, environment.err());
        MountPlaces.checkApart(mountPoint, files, environment.configDirectory().folder());
    }

    /** Starts the daemon, which outlives this process. Returns it when the mount answers. */
    Process inBackground() throws IOException, InterruptedException, CommandFailedException {
        Process daemon = start(false);
        awaitMount(daemon);
        return daemon;
    }

    /** Runs the daemon until it ends; its exit code. */
    int inForeground() throws IOException, InterruptedException {
        Process daemon = start(true);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> endWith(daemon), "sdfs-stop"));
        return daemon.waitFor();
    }

    /** Refuses a second mount. A daemon whose mount has gone is waited for: umount returns before the volume is closed. */
    private void awaitUnserved() throws IOException, InterruptedException, CommandFailedException {
        long start = System.nanoTime();
        while (LockFile.isHeld(files.lock())) {
            Map<String, Object> state =
                    ControlSocket.ping(files.socket()).orElse(Map.of("state", "starting or ending"));
            if (System.nanoTime() - start
                    >= TimeUnit.SECONDS.toNanos(patienceSeconds(String.valueOf(state.get("state"))))) {
                throw new CommandFailedException(servedAlready(state));
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    private static long patienceSeconds(String state) {
        if (state.equals(VolumeDaemon.Phase.OPENING.text()) || state.equals(VolumeDaemon.Phase.MOUNTED.text())) {
            return 0;
        }
        return state.equals(VolumeDaemon.DETACHED) ? DETACHED_SECONDS_MAX : CLOSE_SECONDS_MAX;
    }

    private String servedAlready(Map<String, Object> state) {
        String volume = "the volume '" + arguments.volume + "' ";
        if (VolumeDaemon.DETACHED.equals(state.get("state"))) {
            return volume + "was unmounted from " + state.get("mountPoint")
                    + " with umount -l, and files of it are still open, by "
                    + state.get("users") + "; it can be mounted when they are closed, or when its process "
                    + state.get("pid")
                    + " is ended";
        }
        return volume + "is " + state.get("state")
                + (state.containsKey("pid")
                        ? ", on " + state.get("mountPoint") + ", by process " + state.get("pid")
                        : ", by another process")
                + "; it cannot be mounted twice";
    }

    private Process start(boolean foreground) throws IOException {
        PrivateFiles.createFolders(files.logFolder());
        var jvm = new DaemonJvm(memory, Runtime.version().feature(), CallingUser.isRoot(), environment.javaOptions());
        // Also what libraries make is the owner's only: databases, logs.
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", "umask 077; exec \"$@\"", "sh"));
        if (!foreground) {
            // A session of its own: neither the end of the terminal nor its Ctrl-C reaches the daemon.
            command.add("setsid");
        }
        command.addAll(jvm.command(files, foreground));
        command.add(daemonClass.getName());
        command.addAll(arguments.handedOn(options));
        var builder = new ProcessBuilder(command).directory(Path.of("/").toFile());
        builder.environment()
                .put("SDFS_CONFIG_DIR", environment.configDirectory().folder().toString());
        builder.environment().put("SDFS_RUN_DIR", files.socketFolder().toString());
        // glibc would give each of dozens of threads an arena of up to 64 MB; two keep native memory near its plan.
        builder.environment().putIfAbsent("MALLOC_ARENA_MAX", "2");
        if (foreground) {
            builder.inheritIO();
        } else {
            builder.redirectInput(Path.of("/dev/null").toFile());
            PrivateFiles.createFile(files.console());
            builder.redirectErrorStream(true).redirectOutput(files.console().toFile());
        }
        return builder.start();
    }

    /** Hands SIGTERM on, stays until the daemon has closed the volume, and ends as it did. The daemon bounds the time. */
    private static void endWith(Process daemon) {
        if (daemon.isAlive()) {
            daemon.destroy();
            Runtime.getRuntime().halt(daemon.onExit().join().exitValue());
        }
    }

    private void awaitMount(Process daemon) throws IOException, InterruptedException, CommandFailedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(OPEN_SECONDS_MAX);
        while (!isMounted(daemon)) {
            if (!daemon.isAlive()) {
                throw new CommandFailedException("the volume '" + arguments.volume + "' could not be mounted:\n"
                        + lastLines(files.console()) + "See also " + files.log());
            }
            if (System.nanoTime() > deadline) {
                throw new CommandFailedException("the volume '" + arguments.volume + "' is not mounted after "
                        + OPEN_SECONDS_MAX + " s; process " + daemon.pid() + " goes on in the background, see "
                        + files.log());
            }
            Thread.sleep(POLL_MILLIS);
        }
        // What the user does next: fails here rather than there if the mount does not answer.
        Files.getAttribute(arguments.absoluteMountPoint(), "unix:mode");
    }

    private boolean isMounted(Process daemon) {
        Optional<Map<String, Object>> mounted = ControlSocket.ping(files.socket())
                .filter(state -> Long.toString(daemon.pid()).equals(String.valueOf(state.get("pid"))))
                .filter(state -> VolumeDaemon.Phase.MOUNTED.text().equals(state.get("state")));
        mounted.ifPresent(this::sayWhatWasNarrowed);
        return mounted.isPresent();
    }

    private void sayWhatWasNarrowed(Map<String, Object> state) {
        if (state.get(VolumeDaemon.NARROWED) instanceof Integer narrowed) {
            environment.err().println("mount.sdfs: " + VolumeFolders.report(narrowed));
        }
    }

    private static String lastLines(Path console) throws IOException {
        // Not all of it need be text: libfuse and the JVM write there too.
        List<String> lines = new String(Files.readAllBytes(console), StandardCharsets.UTF_8)
                .lines()
                .toList();
        List<String> last = lines.subList(Math.max(0, lines.size() - ERROR_LINES_MAX), lines.size());
        return last.isEmpty() ? "" : String.join("\n", last) + "\n";
    }
}
