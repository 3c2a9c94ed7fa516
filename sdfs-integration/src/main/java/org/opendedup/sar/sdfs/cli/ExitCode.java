package org.opendedup.sar.sdfs.cli;

/** How every command ends. */
final class ExitCode {
    static final int OK = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;
    /** Done, but for something that the destination or the user's rights do not allow. */
    static final int INCOMPLETE = 3;

    private ExitCode() {}
}
