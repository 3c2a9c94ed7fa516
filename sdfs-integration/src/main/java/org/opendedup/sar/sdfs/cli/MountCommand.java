package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code mount.sdfs}: starts a volume's daemon and returns when the mount answers. */
@Command(
        name = "mount.sdfs",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        description = {
            "Mounts a volume that mkfs.sdfs made. Returns when the mount answers; a daemon serves it until it is unmounted.",
            ""
        },
        footer = {
            "",
            "Unmount with: umount MOUNTPOINT (as a user: fusermount3 -u MOUNTPOINT), or sdfscli VOLUME unmount.",
            "Linked into /sbin, it serves mount -t sdfs VOLUME MOUNTPOINT and fstab as well.",
            "",
            "Environment: SDFS_CONFIG_DIR  folder of the volume files (default /etc/sdfs)",
            "             SDFS_RUN_DIR     folder of the control socket (default BASE/run)",
            "             SDFS_JAVA_OPTS   more options for the daemon's JVM",
            "Log:         BASE/log/VOLUME.log",
            "Exit codes:  0 mounted, 1 failed, 2 wrong usage"
        })
public final class MountCommand implements Callable<Integer> {
    /** Opening may recover from a crash or rebuild the index; the daemon goes on when we stop waiting. */
    private static final long OPEN_SECONDS_MAX = 600;

    /** A daemon that is just closing the volume gets this long to end. */
    private static final long CLOSE_SECONDS_MAX = 120;

    private static final long POLL_MILLIS = 20;
    private static final int ERROR_LINES_MAX = 10;

    private final Environment environment;
    private final MountService service;
    private final Class<?> daemonClass;

    @Mixin
    MountArguments arguments = new MountArguments();

    @Option(names = "-f", description = "Stay in the foreground and log to the error stream.")
    boolean foreground;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @Option(
            names = {"-n", "-s", "-v"},
            hidden = true,
            description = "Given by mount(8); without effect.")
    boolean[] ignoredFlags = {};

    @Option(names = "-t", hidden = true, paramLabel = "TYPE", description = "Given by mount(8); without effect.")
    String ignoredType = "";

    /** @param daemonClass whose {@code main} is the daemon */
    MountCommand(Environment environment, MountService service, Class<?> daemonClass) {
        this.environment = environment;
        this.service = service;
        this.daemonClass = daemonClass;
    }

    public static void main(String[] arguments) {
        Environment environment = Environment.ofProcess();
        var command = new MountCommand(environment, new FuseMountService(), DaemonCommand.class);
        System.exit(CommandRunner.run(command, environment, arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException, CommandFailedException {
        VolumeDefinition definition = arguments.definition(environment);
        String options = arguments.mountOptions(service);
        RunFiles files = environment.runFiles(definition);
        MountPlaces.checkVolume(definition, environment.err());
        awaitUnserved(files);
        MountPlaces.checkMountPoint(arguments.absoluteMountPoint(), environment.err());
        Files.createDirectories(files.logFolder());
        Process daemon = start(files, definition, options);
        if (foreground) {
            return daemon.waitFor();
        }
        awaitMount(files, daemon);
        report(definition, daemon);
        return ExitCode.OK;
    }

    /** Refuses a second mount. A daemon whose mount has gone is waited for: umount returns before the volume is closed. */
    private void awaitUnserved(RunFiles files) throws IOException, InterruptedException, CommandFailedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS_MAX);
        while (LockFile.isHeld(files.lock())) {
            Map<String, Object> state =
                    ControlSocket.ping(files.socket()).orElse(Map.of("state", "starting or ending"));
            boolean ending = !"mounted".equals(state.get("state")) && !"opening".equals(state.get("state"));
            if (!ending || System.nanoTime() > deadline) {
                throw new CommandFailedException("the volume '" + arguments.volume + "' is " + state.get("state")
                        + (state.containsKey("pid")
                                ? ", on " + state.get("mountPoint") + ", by process " + state.get("pid")
                                : ", by another process")
                        + "; it cannot be mounted twice");
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    private Process start(RunFiles files, VolumeDefinition definition, String options) throws IOException {
        var jvm = new DaemonJvm(
                DaemonMemory.of(definition.config()), Runtime.version().feature(), environment.javaOptions());
        List<String> command = new ArrayList<>();
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
            builder.redirectErrorStream(true).redirectOutput(files.console().toFile());
        }
        Process daemon = builder.start();
        if (foreground) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> endWith(daemon), "sdfs-stop"));
        }
        return daemon;
    }

    /** Hands SIGTERM on, stays until the daemon has closed the volume, and ends as it did. The daemon bounds the time. */
    private static void endWith(Process daemon) {
        if (daemon.isAlive()) {
            daemon.destroy();
            Runtime.getRuntime().halt(daemon.onExit().join().exitValue());
        }
    }

    private void awaitMount(RunFiles files, Process daemon)
            throws IOException, InterruptedException, CommandFailedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(OPEN_SECONDS_MAX);
        while (!isMounted(files, daemon)) {
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

    private static boolean isMounted(RunFiles files, Process daemon) {
        return ControlSocket.ping(files.socket())
                .filter(state -> Long.toString(daemon.pid()).equals(String.valueOf(state.get("pid"))))
                .filter(state -> VolumeDaemon.Phase.MOUNTED.text().equals(state.get("state")))
                .isPresent();
    }

    private static String lastLines(Path console) throws IOException {
        List<String> lines = Files.readAllLines(console);
        List<String> last = lines.subList(Math.max(0, lines.size() - ERROR_LINES_MAX), lines.size());
        return last.isEmpty() ? "" : String.join("\n", last) + "\n";
    }

    private void report(VolumeDefinition definition, Process daemon) {
        if (json) {
            var result = new LinkedHashMap<String, Object>();
            result.put("name", arguments.volume);
            result.put("mountPoint", arguments.absoluteMountPoint().toString());
            result.put("pid", daemon.pid());
            result.put("memoryBudgetBytes", definition.config().memoryBudgetBytes());
            environment.out().println(Json.pretty(result));
        } else {
            environment
                    .out()
                    .println("Mounted " + arguments.volume + " on " + arguments.absoluteMountPoint() + ", process "
                            + daemon.pid() + ".");
        }
    }
}
