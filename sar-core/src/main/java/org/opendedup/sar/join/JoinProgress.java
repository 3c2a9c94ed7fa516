package org.opendedup.sar.join;

/** Receives the progress of an exact pass, and may stop it. */
@FunctionalInterface
public interface JoinProgress {
    /** What a pass does. */
    enum Phase {
        /** Reads the directories of the containers; the unit is a container. */
        COMPARING,
        /** Reads recipes and replaces references; the unit is a byte of the files. */
        JOINING
    }

    /**
     * Receives how far the pass is. Called some times a second.
     *
     * @param of all that is planned of the phase
     * @return whether to continue; what is joined stays joined
     */
    boolean joined(Phase phase, long done, long of);
}
