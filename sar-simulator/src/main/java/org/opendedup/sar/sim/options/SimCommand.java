package org.opendedup.sar.sim.options;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A subcommand: its help, where it prints, and how it refuses wrong use. */
public abstract class SimCommand implements Callable<Integer> {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Spec
    @Nullable
    CommandSpec spec;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            order = Integer.MAX_VALUE,
            description = "Show this help message and exit.")
    boolean help;

    private CommandLine line() {
        return Objects.requireNonNull(spec).commandLine();
    }

    protected final PrintWriter out() {
        return line().getOut();
    }

    protected final PrintWriter err() {
        return line().getErr();
    }

    /** Returns the name of the program that runs, which begins each of its messages. */
    protected final String program() {
        return line().getCommandSpec().root().name();
    }

    /** Returns what refuses the use as wrong. */
    protected final ParameterException usage(@Nullable String problem) {
        return new ParameterException(line(), String.valueOf(problem));
    }

    protected final void require(boolean holds, String otherwise) {
        if (!holds) {
            throw usage(otherwise);
        }
    }

    /** Returns a value that is made from options; those that it refuses as illegal arguments are wrong use. */
    protected final <T> T checked(Supplier<T> value) {
        try {
            return value.get();
        } catch (IllegalArgumentException e) {
            throw usage(e.getMessage());
        }
    }

    /** Refuses those of the options that are given. */
    protected final void refuse(List<String> options, String with) {
        for (String option : options) {
            require(!line().getParseResult().hasMatchedOption(option), option + " has no effect with " + with);
        }
    }

    /** Prints a value as JSON. */
    protected final void printJson(Object value) {
        try {
            out().println(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(value));
        } catch (JsonProcessingException e) {
            throw new AssertionError("a record can always be written", e);
        }
    }
}
