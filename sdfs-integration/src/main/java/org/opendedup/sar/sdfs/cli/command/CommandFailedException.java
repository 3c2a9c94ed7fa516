package org.opendedup.sar.sdfs.cli.command;

import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.report.FailureText;

/** Thrown if a command could not do what was asked. The message is shown on one line, whatever names it contains. */
public final class CommandFailedException extends Exception implements FailureText.ForPeople {
    private static final long serialVersionUID = 1;

    private final int exitCode;
    private final boolean hasLines;

    /** The exit code is {@link ExitCode#FAILED}. */
    public CommandFailedException(String message) {
        this(message, ExitCode.FAILED);
    }

    /** @param exitCode one of {@link ExitCode} */
    public CommandFailedException(String message, int exitCode) {
        this(message, exitCode, false);
    }

    private CommandFailedException(String message, int exitCode, boolean hasLines) {
        super(message);
        this.exitCode = exitCode;
        this.hasLines = hasLines;
    }

    /** Makes a failure whose message has several lines: no name in it may have a line break. */
    public static CommandFailedException ofLines(String message) {
        return new CommandFailedException(message, ExitCode.FAILED, true);
    }

    /** Returns the message as it is shown. */
    String shown(String message) {
        return hasLines ? message : Printable.line(message);
    }

    int exitCode() {
        return exitCode;
    }
}
