package org.opendedup.sar.sdfs.cli.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.keys.KeyException;
import org.opendedup.sar.sdfs.cli.control.SilentDaemonException;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.config.NoSuchVolumeException;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Runs every picocli command the same way: messages on the error stream, exit codes of {@link ExitCode}. */
public final class CommandRunner {
    private static final Pattern COMMAND_OF_A_VOLUME = Pattern.compile("\\b(sdfscli|sdfs-check) VOLUME\\b");

    private CommandRunner() {}

    public static int run(Object command, Environment environment, String... arguments) {
        return run(withHelp(command), environment, arguments);
    }

    /** As the other one; with a model that {@link #withHelp} made. */
    public static int run(CommandLine commandLine, Environment environment, String... arguments) {
        Object command = commandLine.getCommand();
        commandLine
                .setOut(environment.out())
                .setErr(environment.err())
                .setCaseInsensitiveEnumValuesAllowed(true)
                // Another user may have called a file @words, which a pattern of the shell then passes on.
                .setExpandAtFiles(false)
                .setUsageHelpWidth(110)
                .setUsageHelpLongOptionsMaxWidth(38)
                .setParameterExceptionHandler(CommandRunner::refuseUsage)
                .setExecutionExceptionHandler(CommandRunner::fail)
                .registerConverter(Path.class, CommandRunner::path);
        int code = execute(commandLine, command, environment, arguments);
        // Also flushes: a PrintWriter flushes after println, but not after print.
        boolean incomplete = environment.out().checkError();
        if (incomplete) {
            environment
                    .err()
                    .println(name(command)
                            + ": the output could not be written; its device may be "
                            + "full, or its reader may have ended");
        }
        environment.err().flush();
        return incomplete && code == ExitCode.OK && !(command instanceof Lasting) ? ExitCode.FAILED : code;
    }

    /** Returns a picocli command with its complete help, from which its manual page and completions are made too. */
    public static CommandLine withHelp(Object command) {
        var commandLine = new CommandLine(command);
        completeHelp(commandLine);
        return commandLine;
    }

    /** Completes the help of a command and its subcommands: how each is called, and empty lines around its texts. */
    private static void completeHelp(CommandLine command) {
        command.getSubcommands().values().forEach(CommandRunner::completeHelp);
        CommandSpec spec = command.getCommandSpec();
        UsageMessageSpec help = spec.usageMessage();
        boolean isInherited =
                Arrays.equals(help.customSynopsis(), spec.root().usageMessage().customSynopsis());
        if (spec.parent() != null && isInherited) {
            help.customSynopsis(synopsis(spec));
        }
        help.customSynopsis(and(help.customSynopsis(), ""));
        help.description(and(help.description(), ""));
        help.footer(help.footer().length == 0 ? new String[0] : and(new String[] {""}, help.footer()));
    }

    /**
     * Returns how a command of a volume is called, such as {@code sdfscli VOLUME sar resize SIZE [--wait] [--json]}.
     */
    private static String synopsis(CommandSpec command) {
        var words = new ArrayList<String>(List.of(command.qualifiedName().replaceFirst(" ", " VOLUME ")));
        if (!command.subcommands().isEmpty()) {
            words.add("COMMAND");
        }
        for (PositionalParamSpec word : command.positionalParameters()) {
            String label = word.paramLabel() + (word.arity().max() > 1 ? "..." : "");
            words.add(word.required() ? label : "[" + label + "]");
        }
        for (OptionSpec option : command.options()) {
            if (!option.inherited() && !option.usageHelp() && !option.versionHelp()) {
                String value = option.arity().max() == 0 ? "" : "=" + option.paramLabel();
                words.add("[" + option.longestName() + value + "]");
            }
        }
        words.add("[--json]");
        return String.join(" ", words);
    }

    private static String[] and(String[] lines, String... more) {
        return lines.length == 0
                ? lines
                : Stream.concat(Arrays.stream(lines), Arrays.stream(more)).toArray(String[]::new);
    }

    /** Converts a path. An empty one would be the working folder, which nobody means: a variable was not set. */
    private static Path path(String text) {
        if (text.isEmpty()) {
            throw new TypeConversionException("the path is empty; for the present folder, write .");
        }
        return Path.of(text);
    }

    /** A command that has done its work, whether its output could be written or not. */
    public interface Lasting {}

    private static int execute(CommandLine commandLine, Object command, Environment environment, String... arguments) {
        if (!(command instanceof Spellings spellings)) {
            return commandLine.execute(arguments);
        }
        String name = commandLine.getCommandSpec().name();
        List<String> translated;
        try {
            translated = spellings.translated(
                    List.of(arguments), note -> environment.err().println(name + ": note: " + note));
        } catch (IllegalArgumentException e) {
            return refuseUsage(new ParameterException(commandLine, e.getMessage(), e), arguments);
        }
        return commandLine.execute(translated.toArray(String[]::new));
    }

    private static String name(Object command) {
        return CommandLine.Model.CommandSpec.forAnnotatedObject(command).name();
    }

    private static int refuseUsage(ParameterException e, String[] arguments) {
        CommandLine commandLine = e.getCommandLine();
        PrintWriter err = commandLine.getErr();
        String name = commandLine.getCommandSpec().qualifiedName();
        ParameterException cause = likelierCause(e);
        err.println(name + ": " + Printable.line(message(cause)));
        UnmatchedArgumentException.printSuggestions(cause, err);
        err.println("Try '" + name + " --help'.");
        return ExitCode.USAGE;
    }

    /** Returns the message; that of picocli for too many words counts them from 0. */
    private static String message(ParameterException e) {
        if (!(e instanceof UnmatchedArgumentException unmatched) || unmatched.isUnknownOption()) {
            return String.valueOf(e.getMessage());
        }
        return "not known, or one too many: " + String.join(" ", unmatched.getUnmatched());
    }

    /**
     * Picks the more likely cause: if an option is missing and an unknown one was given, the unknown one is probably a
     * misspelling, and the suggestion for it helps more.
     */
    private static ParameterException likelierCause(ParameterException e) {
        List<String> unknown = e.getCommandLine().getUnmatchedArguments();
        return e instanceof MissingParameterException && !unknown.isEmpty()
                ? new UnmatchedArgumentException(e.getCommandLine(), unknown)
                : e;
    }

    private static int fail(Exception e, CommandLine commandLine, CommandLine.ParseResult parsed) throws Exception {
        if (e instanceof InvalidPathException) {
            return refuseUsage(new ParameterException(commandLine, String.valueOf(e.getMessage()), e), new String[0]);
        }
        if (!(e instanceof CommandFailedException || e instanceof IOException || e instanceof UncheckedIOException)) {
            throw e;
        }
        String message = withVolume(FailureText.of(e), parsed);
        commandLine
                .getErr()
                .println(commandLine.getCommandSpec().root().name() + ": "
                        + (e instanceof CommandFailedException failed
                                ? failed.shown(message)
                                : Printable.line(message)));
        return code(e);
    }

    private static int code(Exception e) {
        if (e instanceof CommandFailedException failed) {
            return failed.exitCode();
        } else if (e instanceof SilentDaemonException) {
            return ExitCode.NO_ANSWER;
        } else if (e instanceof KeyException noKey) {
            return noKey.reason() == KeyException.Reason.WRONG_SECRET ? ExitCode.NO_KEY : ExitCode.DAMAGED;
        }
        return e instanceof NoSuchVolumeException ? ExitCode.NO_SUCH_VOLUME : ExitCode.FAILED;
    }

    /** Names the volume in commands of a message; the engine that wrote it knows no volume's name. */
    private static String withVolume(String message, CommandLine.ParseResult parsed) {
        return parsed.matchedPositionalValue(0, null) instanceof String volume
                ? COMMAND_OF_A_VOLUME.matcher(message).replaceAll("$1 " + Matcher.quoteReplacement(volume))
                : message;
    }
}
