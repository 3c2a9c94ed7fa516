package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.OptionSpecs;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.PluginCommands;
import org.opendedup.sar.sdfs.cli.control.PluginFiles;
import org.opendedup.sar.sdfs.cli.control.SilentDaemonException;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.config.PluginStore;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.keys.VolumeKeyHeader;
import org.opendedup.sar.volume.config.VolumeConfig;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The volume that the command line names, as the subcommands reach it: its files, and its daemon. */
abstract class VolumeClient {
    /** Describes the parameter of a command that {@link #pathInVolume} resolves. */
    static final String PATH_IN_VOLUME = "A path in the mounted volume, or one from the volume's root.";

    private final Environment environment;

    @Spec
    @Nullable
    CommandSpec spec;

    @Parameters(index = "0", arity = "0..1", paramLabel = "VOLUME", description = "Name of the volume.")
    @Nullable
    String volume;

    @Option(
            names = "--json",
            scope = ScopeType.INHERIT,
            description = "Print JSON; the keys are stable. May stand before or after the command.")
    boolean json;

    VolumeClient(Environment environment) {
        this.environment = environment;
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

    /** Returns the log of who did what with the named volume. */
    Path auditLog() throws IOException {
        return isOfPlugin()
                ? PluginFiles.audit(name(), locations().metadata())
                : runFiles().audit();
    }

    /** Returns whether the named volume is one of OpenDedup SDFS, which mounts it with the plugin. */
    boolean isOfPlugin() throws IOException {
        try {
            return environment.configDirectory().ofPlugin(name()).isPresent();
        } catch (AccessDeniedException e) {
            // The caller may read the status at most, which only volumes of mount.sdfs give.
            return false;
        }
    }

    /**
     * Returns the key header of the named volume; null if it is not encrypted.
     *
     * @throws IOException if the volume file does not say that it is encrypted, and it is
     */
    @Nullable
    VolumeKeyHeader keyHeader() throws IOException {
        Optional<PluginStore> ofPlugin = environment.configDirectory().ofPlugin(name());
        return ofPlugin.isPresent()
                ? VolumeKeyHeader.of(ofPlugin.get())
                : VolumeKeyHeader.of(environment.configDirectory().read(name()));
    }

    /** Returns the file that is locked while a command works on the key header. */
    Path keyLock() throws IOException {
        return isOfPlugin()
                ? PluginFiles.keyLock(name(), locations().metadata())
                : runFiles().keyLock();
    }

    /** @throws IOException if the named volume has no files of ours: OpenDedup SDFS with the plugin mounts it */
    void requireFiles() throws IOException {
        if (isOfPlugin()) {
            throw new IOException(PluginCommands.refusal(name()));
        }
    }

    /** Returns where the named volume's data and metadata are. */
    VolumeConfig.Locations locations() throws IOException {
        Optional<PluginStore> ofPlugin = environment.configDirectory().ofPlugin(name());
        return ofPlugin.isPresent()
                ? ofPlugin.get().locations()
                : environment.configDirectory().read(name()).config().locations();
    }

    /**
     * Returns the control socket for a request; for a caller without access to it or to the volume file, the one of the
     * status, if the request is for that.
     *
     * @throws IOException if the request makes no sense for the named volume, mounted or not
     */
    private Path socket(String command, Map<String, ?> arguments) throws IOException {
        if (!PluginCommands.has(command, arguments)) {
            requireFiles();
        }
        Path ofStatus = RunFiles.statusSocket(name());
        boolean mayDo = VolumeCommands.OF_STATUS.contains(command) && Files.exists(ofStatus);
        try {
            Path socket = environment.controlSocket(name());
            boolean isHidden = !Files.exists(socket) && !Files.notExists(socket);
            return isHidden && mayDo ? ofStatus : socket;
        } catch (AccessDeniedException e) {
            if (mayDo) {
                return ofStatus;
            }
            throw e;
        }
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
        return OptionSpecs.volumeName(volume, this::usage);
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
     * @param path a path in the mounted volume, absolute or from the working folder; another relative path begins at
     *     the volume's root
     * @throws CommandFailedException if it is not in the volume, or the volume is not mounted
     */
    String pathInVolume(Path path) throws IOException, CommandFailedException {
        requireFiles();
        Path root = Path.of(String.valueOf(ask(VolumeCommands.PING, Map.of()).get("mountPoint")));
        Path found =
                Files.exists(path) ? path.toRealPath() : path.toAbsolutePath().normalize();
        if (found.startsWith(root)) {
            return root.relativize(found).toString();
        }
        if (path.isAbsolute()) {
            throw new CommandFailedException(path + " does not lie in the volume, which is mounted on " + root);
        }
        return path.normalize().toString();
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

    final ParameterException usage(String message) {
        if (spec == null) {
            throw new IllegalStateException("not run by picocli: " + message);
        }
        return new ParameterException(spec.commandLine(), message);
    }
}
