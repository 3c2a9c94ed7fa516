package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.List;
import org.opendedup.sar.common.Printable;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Runs a picocli command the same way for all: messages on the error stream, exit codes of {@link ExitCode}. */
final class CommandRunner {
    private CommandRunner() {}

    static int run(Object command, Environment environment, String... arguments) {
        int code = new CommandLine(command)
                .setOut(environment.out())
                .setErr(environment.err())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpWidth(110)
                .setUsageHelpLongOptionsMaxWidth(38)
                .setParameterExceptionHandler(CommandRunner::refuseUsage)
                .setExecutionExceptionHandler(CommandRunner::fail)
                .execute(arguments);
        // A PrintWriter flushes by itself at the end of println, not of print.
        environment.out().flush();
        environment.err().flush();
        return code;
    }

    private static int refuseUsage(ParameterException e, String[] arguments) {
        CommandLine commandLine = e.getCommandLine();
        PrintWriter err = commandLine.getErr();
        String name = commandLine.getCommandSpec().qualifiedName();
        ParameterException cause = likelierCause(e);
        err.println(name + ": " + cause.getMessage());
        UnmatchedArgumentException.printSuggestions(cause, err);
        err.println("Try '" + name + " --help'.");
        return ExitCode.USAGE;
    }

    /** Where an option lacks and an unknown one was given, it was misspelt: the suggestion says more than the lack. */
    private static ParameterException likelierCause(ParameterException e) {
        List<String> unknown = e.getCommandLine().getUnmatchedArguments();
        return e instanceof MissingParameterException && !unknown.isEmpty()
                ? new UnmatchedArgumentException(e.getCommandLine(), unknown)
                : e;
    }

    private static int fail(Exception e, CommandLine commandLine, CommandLine.ParseResult parsed) throws Exception {
        if (!(e instanceof CommandFailedException || e instanceof IOException)) {
            throw e;
        }
        String message = messageOf(e);
        // Those of our own may have several lines; in the others a line break is of a name.
        commandLine
                .getErr()
                .println(commandLine.getCommandSpec().root().name() + ": "
                        + (e instanceof CommandFailedException ? message : Printable.line(message)));
        return ExitCode.FAILED;
    }

    /** Says what a file system exception of the JDK means; its own message is often the path alone. */
    static String messageOf(Throwable e) {
        String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        if (e instanceof NoSuchFileException) {
            return message + ": no such file or folder";
        } else if (e instanceof AccessDeniedException) {
            return message + ": permission denied";
        } else if (e instanceof FileAlreadyExistsException) {
            return message + ": exists already";
        } else if (e instanceof NotDirectoryException) {
            return message + ": not a folder";
        } else if (e instanceof IOException
                || e instanceof UncheckedIOException
                || e instanceof CommandFailedException) {
            return message;
        }
        return e.getClass().getSimpleName() + ": " + message;
    }
}
