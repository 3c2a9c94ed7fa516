package org.opendedup.sar.sdfs.cli;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.PrintableWriter;
import org.opendedup.sar.sdfs.cli.control.ControlArguments;
import org.opendedup.sar.sdfs.cli.control.ControlServer;
import org.opendedup.sar.sdfs.cli.report.StatusText;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * Runs commands of sdfscli in the daemon's JVM, for clients that have none ({@code scripts/sdfs-client.c}, adr/0088).
 * They run as if their caller had run them: the same classes, with the caller's variables, asks this daemon by its
 * socket. So only the daemon's own user gets an answer, and only commands that read no file but the volume's own one,
 * change nothing, and end by themselves soon. A client that is refused runs the command itself.
 */
final class ServedCommands {
    /** Name of the control command. */
    static final String COMMAND = "run";

    /** The words after the volume of the commands that are run here; {@code --json} may stand anywhere. */
    private static final Pattern SERVED =
            Pattern.compile("|status|info|stats|df|top --once|chunk [0-9A-Fa-f]{1,64}|snapshot list"
                    + "|(gc|scrub|heal|sar|index|tier) status");

    /** Commands at once, each of which needs a connection more to ask the daemon. */
    private static final int AT_ONCE_MAX = 4;

    private final Semaphore free = new Semaphore(AT_ONCE_MAX);

    /** What a command leaves: the client reads the values in this order. */
    private record Result(int code, String out, String err) {}

    /** @throws IOException if the client must run the command itself */
    Object answer(Map<String, Object> arguments, ControlServer.Caller caller) throws IOException {
        var given = new ControlArguments(arguments);
        List<String> words = given.texts("words");
        Map<String, String> variables = Map.of(
                "SDFS_CONFIG_DIR", given.text("configFolder"),
                "SDFS_RUN_DIR", given.text("runFolder"));
        given.end();
        if (!caller.isOwnUser() || !isServed(words) || !free.tryAcquire()) {
            throw new IOException("the daemon does not run this command for the client");
        }
        try {
            return run(variables, words);
        } finally {
            free.release();
        }
    }

    static boolean isServed(List<String> words) {
        List<String> others = withoutJson(words);
        return !others.isEmpty()
                // No option, and no file with further words.
                && others.get(0).matches("[^-@].*")
                && SERVED.matcher(others.stream().skip(1).collect(Collectors.joining(" ")))
                        .matches();
    }

    private static List<String> withoutJson(List<String> words) {
        return words.stream().filter(word -> !word.equals("--json")).toList();
    }

    /**
     * sdfscli with one of its commands: to make the model of all of them would take ten times as long as the answer.
     */
    @Command(name = "sdfscli")
    static final class OneCommand extends VolumeClient implements Callable<Integer> {
        OneCommand(Environment environment) {
            super(environment);
        }

        @Override
        public Integer call() throws IOException {
            return StatusCommand.show(this, StatusText::brief);
        }
    }

    private static CommandLine model(Environment environment, List<String> words) {
        var model = new CommandLine(new OneCommand(environment));
        withoutJson(words).stream()
                .skip(1)
                .findFirst()
                .ifPresent(
                        word -> model.addSubcommand(word, SdfsCli.command(word).orElseThrow()));
        return model;
    }

    private static Result run(Map<String, String> variables, List<String> words) {
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        var environment = new Environment(variables, PrintableWriter.to(out), PrintableWriter.to(err));
        int code = CommandRunner.run(model(environment, words), environment, words.toArray(String[]::new));
        return new Result(code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }
}
