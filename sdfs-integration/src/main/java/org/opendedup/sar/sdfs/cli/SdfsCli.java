package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.FailureText;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.command.SilentDaemonException;
import org.opendedup.sar.sdfs.cli.command.Spellings;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.PluginCommands;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.upstream.CliSpellings;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.volume.config.VolumeConfig;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code sdfscli}: shows and administers volumes. A new subcommand is added by an entry in {@code subcommands}. */
@Command(
        name = "sdfscli",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        customSynopsis = {"sdfscli VOLUME [COMMAND] [--json]", "       sdfscli --list [--json]", ""},
        description = {"Shows and administers volumes. Without a command: whether the volume is well.", ""},
        commandListHeading = "%nCommands:%n",
        subcommands = {
            StatusCommand.class,
            InfoCommand.class,
            StatsCommand.class,
            DfCommand.class,
            TopCommand.class,
            FileCommand.class,
            DefragCommand.class,
            GcCommand.class,
            ScrubCommand.class,
            VolumeCheckCommand.class,
            DamagedCommand.class,
            HealCommand.class,
            RestoreCommand.class,
            MetadataBackupCommand.class,
            SarCommand.class,
            IndexCommand.class,
            TierCommand.class,
            ResumeCommand.class,
            SupportBundleCommand.class,
            UnmountCommand.class
        },
        footer = {
            "",
            "Environment: SDFS_CONFIG_DIR  folder of the volume files (default /etc/sdfs)",
            "             SDFS_RUN_DIR     folder of the control socket (default BASE/run)",
            "Exit codes:  0 done, or the volume is well",
            "             1 failed, or the volume is degraded",
            "             2 something stored is damaged, or not as it should be",
            "             3 the daemon does not answer   4 not mounted   5 no such volume",
            "             6 restored with all bytes, but not all owners, modes, attributes or special files",
            "             64 wrong usage",
            "",
            "A volume that OpenDedup SDFS mounts with the plugin has the commands that need no files: docs/PLUGIN.md."
        })
public final class SdfsCli implements Callable<Integer>, Spellings {
    /** What is said in place of a daemon's answer about a volume that has no daemon. */
    static final Map<String, Object> NOT_MOUNTED = Map.of("state", "not mounted");

    private final Environment environment;

    @Spec
    @Nullable
    CommandSpec spec;

    @Parameters(index = "0", arity = "0..1", paramLabel = "VOLUME", description = "Name of the volume.")
    @Nullable
    String volume;

    @Option(names = "--list", description = "List the known volumes, and whether they are mounted.")
    boolean list;

    @Option(names = "--json", description = "Print JSON. May also follow the command.")
    boolean json;

    /** Returns whether a word is one of the commands: a volume with that name would be ambiguous. */
    static boolean isCommand(String word) {
        Command annotation = Objects.requireNonNull(SdfsCli.class.getAnnotation(Command.class));
        return Arrays.stream(annotation.subcommands())
                .anyMatch(type -> Objects.requireNonNull(type.getAnnotation(Command.class))
                        .name()
                        .equals(word));
    }

    public SdfsCli(Environment environment) {
        this.environment = environment;
    }

    public static void main(String[] arguments) {
        Environment environment = Environment.ofProcess();
        System.exit(CommandRunner.run(new SdfsCli(environment), environment, arguments));
    }

    @Override
    public List<String> translated(List<String> arguments, Consumer<String> notes) {
        if (!arguments.isEmpty() && arguments.get(0).equals("help")) {
            List<String> asked = new ArrayList<>(arguments.subList(1, arguments.size()));
            asked.add("--help");
            return asked;
        }
        return CliSpellings.translated(arguments, this::volumes, notes);
    }

    private List<String> volumes() {
        try {
            return environment.configDirectory().volumes();
        } catch (IOException e) {
            throw new IllegalArgumentException(FailureText.of(e), e);
        }
    }

    @Override
    public Integer call() throws IOException {
        if (list && volume != null) {
            throw usage("--list names all volumes: leave out '" + volume + "', or --list");
        }
        if (volume != null) {
            return StatusCommand.show(this, json);
        }
        if (!list) {
            throw usage("name a volume, a volume and a command, or --list");
        }
        List<Map<String, Object>> volumes = new ArrayList<>();
        ConfigDirectory directory = environment.configDirectory();
        int code = ExitCode.OK;
        for (String name : directory.volumes()) {
            var entry = new LinkedHashMap<String, Object>();
            entry.put("name", name);
            // A volume of which nothing is known must not hide the others.
            try {
                entry.putAll(ControlSocket.ask(socket(directory, name), VolumeCommands.PING)
                        .orElse(NOT_MOUNTED));
            } catch (SilentDaemonException e) {
                entry.put("state", "does not answer");
                code = Math.max(code, ExitCode.NO_ANSWER);
            } catch (IOException e) {
                entry.put("state", "unknown: " + FailureText.of(e));
                code = Math.max(code, ExitCode.FAILED);
            }
            volumes.add(entry);
        }
        if (json) {
            environment.out().println(Json.pretty(Map.of("volumes", volumes)));
        } else if (volumes.isEmpty()) {
            environment.out().println("No volumes in " + directory.folder() + "; make one with mkfs.sdfs.");
        } else {
            volumes.forEach(entry -> environment
                    .out()
                    .printf(
                            "%-24s %s%n",
                            entry.get("name"),
                            entry.containsKey("mountPoint")
                                    ? entry.get("state") + " on " + entry.get("mountPoint")
                                    : entry.get("state")));
        }
        return code;
    }

    Environment environment() {
        return environment;
    }

    /** Returns the path of the named volume's file. */
    Path volumeFile() {
        return environment.configDirectory().fileOf(name());
    }

    /** @throws IOException if the named volume has none, because OpenDedup SDFS with the plugin mounts it */
    RunFiles runFiles() throws IOException {
        requireFiles();
        VolumeDefinition definition = environment.configDirectory().read(name());
        return environment.runFiles(definition);
    }

    /** Returns whether the named volume is one of OpenDedup SDFS, which mounts it with the plugin. */
    boolean isOfPlugin() throws IOException {
        return environment.configDirectory().locationsOfPlugin(name()).isPresent();
    }

    /** @throws IOException if the named volume has no files of ours: OpenDedup SDFS with the plugin mounts it */
    void requireFiles() throws IOException {
        if (isOfPlugin()) {
            throw new IOException(PluginCommands.refusal(name()));
        }
    }

    /** Returns where the named volume's data and metadata are. */
    VolumeConfig.Locations locations() throws IOException {
        Optional<VolumeConfig.Locations> ofPlugin =
                environment.configDirectory().locationsOfPlugin(name());
        return ofPlugin.isPresent()
                ? ofPlugin.get()
                : environment.configDirectory().read(name()).config().locations();
    }

    private Path socket(ConfigDirectory directory, String named) throws IOException {
        Optional<VolumeConfig.Locations> ofPlugin = directory.locationsOfPlugin(named);
        return ofPlugin.isPresent()
                ? environment.pluginSocket(named, ofPlugin.get())
                : environment.runFiles(directory.read(named)).socket();
    }

    /**
     * Returns the control socket for a request.
     *
     * @throws IOException if the request makes no sense for the named volume, mounted or not
     */
    private Path socket(String command, Map<String, ?> arguments) throws IOException {
        if (!PluginCommands.has(command, arguments)) {
            requireFiles();
        }
        return socket(environment.configDirectory(), name());
    }

    /** Asks the named volume's daemon; empty if it is not mounted. */
    Optional<Map<String, Object>> ask(String command) throws IOException {
        return tryAsk(command, Map.of());
    }

    /** As {@link #ask(String)}, with arguments. */
    Optional<Map<String, Object>> tryAsk(String command, Map<String, ?> arguments) throws IOException {
        Path socket = socket(command, arguments);
        return isServed(socket) ? ControlSocket.ask(socket, command, arguments) : Optional.empty();
    }

    /**
     * Returns whether a daemon listens. Other requests may take long.
     *
     * @throws SilentDaemonException if one listens and does not even tell its state
     */
    private static boolean isServed(Path socket) throws IOException {
        return ControlSocket.ask(socket, VolumeCommands.PING).isPresent();
    }

    /** Returns the volume's name, which every subcommand needs. */
    String name() {
        if (volume == null) {
            throw usage("name the volume first: sdfscli VOLUME COMMAND");
        }
        try {
            VolumeDefinition.checkName(volume);
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()));
        }
        return volume;
    }

    /** Sends a command with arguments, as {@link #ask(String)}. */
    Map<String, Object> ask(String command, Map<String, ?> arguments) throws IOException, CommandFailedException {
        Optional<Map<String, Object>> result = tryAsk(command, arguments);
        if (result.isEmpty()) {
            throw notMounted();
        }
        return result.get();
    }

    /**
     * Sends a command as {@link #ask(String, Map)}; until the result is closed, the daemon knows that the client still
     * exists.
     */
    ControlSocket.Held hold(String command, Map<String, ?> arguments) throws IOException, CommandFailedException {
        Path socket = socket(command, arguments);
        Optional<ControlSocket.Held> held =
                isServed(socket) ? ControlSocket.hold(socket, command, arguments) : Optional.empty();
        if (held.isEmpty()) {
            throw notMounted();
        }
        return held.get();
    }

    /**
     * Returns the path of a file or folder from the volume's root.
     *
     * @param path an absolute path in the mounted volume, or one from the volume's root
     * @throws CommandFailedException if it is not in the volume, or the volume is not mounted
     */
    String pathInVolume(Path path) throws IOException, CommandFailedException {
        requireFiles();
        if (!path.isAbsolute()) {
            return path.normalize().toString();
        }
        Path root = Path.of(String.valueOf(ask(VolumeCommands.PING, Map.of()).get("mountPoint")));
        Path found = Files.exists(path) ? path.toRealPath() : path.normalize();
        if (!found.startsWith(root)) {
            throw new CommandFailedException(path + " does not lie in the volume, which is mounted on " + root);
        }
        return root.relativize(found).toString();
    }

    /** Makes the error for commands that unmount. */
    CommandFailedException nothingToUnmount() {
        return new CommandFailedException("the volume '" + name() + "' is not mounted", ExitCode.NOT_MOUNTED);
    }

    CommandFailedException notMounted() throws IOException {
        return new CommandFailedException(
                "the volume '" + name() + "' is not mounted; "
                        + (isOfPlugin()
                                ? "mount it with OpenDedup SDFS. If it is mounted, SDFS's log says why it has no"
                                        + " control socket"
                                : "mount it: mount.sdfs " + name() + " MOUNTPOINT"),
                ExitCode.NOT_MOUNTED);
    }

    private ParameterException usage(String message) {
        if (spec == null) {
            throw new IllegalStateException("not run by picocli: " + message);
        }
        return new ParameterException(spec.commandLine(), message);
    }
}
