package org.opendedup.sar.sdfs.cli.command;

/** Exit codes of all commands. */
public final class ExitCode {
    public static final int OK = 0;
    public static final int FAILED = 1;
    public static final int USAGE = 2;
    /** Done, except for something that the destination or the user's rights do not allow. */
    public static final int INCOMPLETE = 3;

    /** Checked, and something is not as it should be. */
    public static final int DAMAGED = 4;

    private ExitCode() {}
}
