package org.opendedup.sar.metadata.record;

import org.opendedup.sar.common.CorruptionException;

/** What a scrub verifies, in this order. */
public enum ScrubPhase {
    /** The containers, in the order of the disk. */
    CONTAINERS(0),
    /** The references of all files, against the directories of the containers and the counts. */
    REFERENCES(1),
    /** The copies on the SSD, in the order of its log. */
    SSD(2),
    /** Samples of the fingerprint index. */
    INDEX(3);

    private final int code;

    ScrubPhase(int code) {
        this.code = code;
    }

    /** Returns the number that a record has for it. */
    int code() {
        return code;
    }

    static ScrubPhase of(long code) throws CorruptionException {
        for (ScrubPhase phase : values()) {
            if (phase.code == code) {
                return phase;
            }
        }
        throw new CorruptionException("record of a scrub", -1, "a phase", "number " + code);
    }
}
