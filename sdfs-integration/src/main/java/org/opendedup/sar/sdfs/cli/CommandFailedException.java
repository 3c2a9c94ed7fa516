package org.opendedup.sar.sdfs.cli;

/** A command could not do what was asked. The message goes to the user as it is; exit code 1. */
final class CommandFailedException extends Exception {
    private static final long serialVersionUID = 1;

    CommandFailedException(String message) {
        super(message);
    }
}
