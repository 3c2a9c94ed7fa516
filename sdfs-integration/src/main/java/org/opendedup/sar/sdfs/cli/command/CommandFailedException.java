package org.opendedup.sar.sdfs.cli.command;

/** Thrown if a command could not do what was asked. The message is shown to the user unchanged; the exit code is 1. */
public final class CommandFailedException extends Exception {
    private static final long serialVersionUID = 1;

    public CommandFailedException(String message) {
        super(message);
    }
}
