package org.opendedup.sar.sdfs.cli.command;

import java.io.Console;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Terminal;
import org.opendedup.sar.io.StandardOutput;
import org.opendedup.sar.keys.Argon2Cost;
import org.opendedup.sar.sdfs.cli.control.PluginFiles;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.PluginStore;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.keys.SecretEnvironment;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * What a command reads from and writes to its process; tests can replace it.
 *
 * @param variables environment variables; an empty one counts as not set
 * @param out stream for the output that was asked for
 * @param err stream for errors and progress
 * @param isTerminal whether {@code err} is shown on a terminal as it is written
 * @param in what the user types
 * @param hidden what the user types without seeing it
 * @param newCost says what it is to cost to try the passphrase of a new slot
 */
public record Environment(
        Map<String, String> variables,
        PrintWriter out,
        PrintWriter err,
        boolean isTerminal,
        Reader in,
        HiddenInput hidden,
        CostMeasure newCost)
        implements SecretEnvironment {
    /** Finds a cost that suits the machine. */
    @FunctionalInterface
    public interface CostMeasure {
        Argon2Cost get() throws IOException;
    }

    /** Asks on a terminal, without showing what is typed. */
    @FunctionalInterface
    public interface HiddenInput {
        /** Returns what was typed; null if there is no terminal, or its input has ended. */
        char @Nullable [] read(String question);
    }

    private static final String CONFIG_DIRECTORY = "SDFS_CONFIG_DIR";
    private static final String JAVA_OPTIONS = "SDFS_JAVA_OPTS";

    /** Makes an environment whose error stream is not a terminal. */
    public Environment(Map<String, String> variables, PrintWriter out, PrintWriter err) {
        this(variables, out, err, false);
    }

    /** Makes an environment where nobody types. */
    public Environment(Map<String, String> variables, PrintWriter out, PrintWriter err, boolean isTerminal) {
        this(variables, out, err, isTerminal, Reader.nullReader());
    }

    /** Makes an environment without a terminal to type at. */
    public Environment(Map<String, String> variables, PrintWriter out, PrintWriter err, boolean isTerminal, Reader in) {
        this(variables, out, err, isTerminal, in, question -> null, Environment::measured);
    }

    /** Returns the streams and variables of this process. */
    public static Environment ofProcess() {
        return new Environment(
                System.getenv(),
                PrintableWriter.to(StandardOutput.stream()),
                PrintableWriter.to(System.err),
                Terminal.showsMessages(),
                new InputStreamReader(System.in, StandardCharsets.UTF_8),
                Environment::readHidden,
                Environment::measured);
    }

    private static Argon2Cost measured() throws IOException {
        return Argon2Cost.measured(MachineMemory.bytes());
    }

    private static char @Nullable [] readHidden(String question) {
        Console console = System.console();
        return console == null ? null : console.readPassword("%s", question);
    }

    @Override
    public char @Nullable [] ask(String question) {
        return hidden.read(question);
    }

    @Override
    public void say(String sentence) {
        err.println(sentence);
    }

    public ConfigDirectory configDirectory() {
        String folder = variables.getOrDefault(CONFIG_DIRECTORY, "");
        return new ConfigDirectory(
                folder.isEmpty()
                        ? ConfigDirectory.DEFAULT
                        : Path.of(folder).toAbsolutePath().normalize());
    }

    public RunFiles runFiles(VolumeDefinition definition) {
        String folder = variables.getOrDefault(PluginFiles.RUN_DIRECTORY, "");
        return new RunFiles(
                definition,
                folder.isEmpty()
                        ? RunFiles.runFolder(definition)
                        : Path.of(folder).toAbsolutePath().normalize());
    }

    /**
     * Returns the control socket of a volume of OpenDedup SDFS with the plugin.
     *
     * @param locations where its chunks are
     */
    public Path pluginSocket(String volume, VolumeConfig.Locations locations) {
        return PluginFiles.socket(volume, locations.metadata(), variables.get(PluginFiles.RUN_DIRECTORY));
    }

    /** Returns the control socket of a volume, of SDFS with the plugin or of ours. */
    public Path controlSocket(String volume) throws IOException {
        ConfigDirectory directory = configDirectory();
        Optional<PluginStore> ofPlugin = directory.ofPlugin(volume);
        return ofPlugin.isPresent()
                ? pluginSocket(volume, ofPlugin.get().locations())
                : runFiles(directory.read(volume)).socket();
    }

    /** Returns extra options for the daemon's JVM, separated by spaces. */
    public String javaOptions() {
        return variables.getOrDefault(JAVA_OPTIONS, "");
    }
}
