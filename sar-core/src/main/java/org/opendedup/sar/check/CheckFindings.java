package org.opendedup.sar.check;

import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;

/** Receives what a part of a check finds. */
public interface CheckFindings {
    /**
     * Adds a finding.
     *
     * @param what what was found, as a sentence without a full stop
     * @return its number, for the other methods
     */
    int add(Severity severity, Kind kind, String what);

    /** Names a container that a finding concerns. */
    default void container(int finding, long container) {}

    /**
     * Names bytes of a file that cannot be read because of a finding.
     *
     * @param from offset of the first byte
     * @param to offset after the last byte
     */
    default void damaged(int finding, long inode, long from, long to) {}
}
