package org.opendedup.sar.sdfs.cli.command;

import java.io.BufferedWriter;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.opendedup.sar.keys.Argon2Cost;

/** An environment for commands under test: its own config folder, and what was printed. */
public final class CommandOutput {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final Map<String, String> variables = new HashMap<>();

    /** Its writers buffer as those of a process do: what is not flushed is not there. */
    private final Environment environment;

    public CommandOutput(Path configFolder) {
        this(configFolder, false);
    }

    /** @param isTerminal whether messages go to a terminal */
    public CommandOutput(Path configFolder, boolean isTerminal) {
        environment = new Environment(
                variables,
                new PrintWriter(new BufferedWriter(out), true),
                new PrintWriter(new BufferedWriter(err), true),
                isTerminal,
                Reader.nullReader(),
                question -> null,
                () -> new Argon2Cost(64, 1, 1));
        variables.put("SDFS_CONFIG_DIR", configFolder.toString());
    }

    public Environment environment() {
        return environment;
    }

    public void set(String variable, String value) {
        variables.put(variable, value);
    }

    public String out() {
        return out.toString();
    }

    public String err() {
        return err.toString();
    }
}
