package org.opendedup.sar.sdfs.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.VolumeDefinition;

/**
 * What a command takes from and gives to the process that it runs in, so that tests can stand in for it.
 *
 * @param variables environment variables
 * @param out what was asked for
 * @param err what went wrong
 */
record Environment(Map<String, String> variables, PrintWriter out, PrintWriter err) {
    private static final String CONFIG_DIRECTORY = "SDFS_CONFIG_DIR";
    private static final String DEFAULT_CONFIG_DIRECTORY = "/etc/sdfs";
    private static final String RUN_DIRECTORY = "SDFS_RUN_DIR";
    private static final String JAVA_OPTIONS = "SDFS_JAVA_OPTS";

    static Environment ofProcess() {
        return new Environment(System.getenv(), PrintableWriter.to(System.out), PrintableWriter.to(System.err));
    }

    ConfigDirectory configDirectory() {
        Path folder = Path.of(variables.getOrDefault(CONFIG_DIRECTORY, DEFAULT_CONFIG_DIRECTORY));
        return new ConfigDirectory(folder.toAbsolutePath().normalize());
    }

    RunFiles runFiles(VolumeDefinition definition) {
        String folder = variables.get(RUN_DIRECTORY);
        return new RunFiles(
                definition,
                folder == null
                        ? RunFiles.runFolder(definition)
                        : Path.of(folder).toAbsolutePath().normalize());
    }

    /** Extra options for the daemon's JVM, separated by spaces. */
    String javaOptions() {
        return variables.getOrDefault(JAVA_OPTIONS, "");
    }
}
