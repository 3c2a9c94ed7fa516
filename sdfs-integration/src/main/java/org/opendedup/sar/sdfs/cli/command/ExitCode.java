package org.opendedup.sar.sdfs.cli.command;

/** Exit codes of all commands: a code means the same everywhere. */
public final class ExitCode {
    public static final int OK = 0;
    /** Not done. Of the status: degraded. */
    public static final int FAILED = 1;
    /** Something that is stored is damaged, or not as it should be. */
    public static final int DAMAGED = 2;
    /** The volume's daemon runs and does not answer. */
    public static final int NO_ANSWER = 3;

    public static final int NOT_MOUNTED = 4;
    public static final int NO_SUCH_VOLUME = 5;
    /** Done, except for something that the destination, the user's rights or a disk did not allow. */
    public static final int INCOMPLETE = 6;
    /** The passphrase or key is wrong, or there is none. */
    public static final int NO_KEY = 7;
    /** Wrong usage: EX_USAGE of sysexits.h. */
    public static final int USAGE = 64;

    private ExitCode() {}
}
