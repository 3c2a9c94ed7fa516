package org.opendedup.sar.sdfs.cli.command;

/** Thrown if a command could not do what was asked. The message is shown to the user unchanged. */
public final class CommandFailedException extends Exception {
    private static final long serialVersionUID = 1;

    private final int exitCode;

    /** The exit code is {@link ExitCode#FAILED}. */
    public CommandFailedException(String message) {
        this(message, ExitCode.FAILED);
    }

    /** @param exitCode one of {@link ExitCode} */
    public CommandFailedException(String message, int exitCode) {
        super(message);
        this.exitCode = exitCode;
    }

    int exitCode() {
        return exitCode;
    }
}
