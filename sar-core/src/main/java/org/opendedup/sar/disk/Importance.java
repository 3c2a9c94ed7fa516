package org.opendedup.sar.disk;

/**
 * Why a turn at the disk is requested; the most important first. {@link DiskQueue} serves the more important turns
 * before the others. A less important one overtakes them when it has waited for {@link #patience()} times the duration
 * of the latest turn of its kind, so that none waits for ever.
 */
public enum Importance {
    /** A program waits for exactly these bytes: at most one request of the kernel, which has 1 MiB. */
    REQUEST(0),
    /**
     * A larger step of work that a program waits for: reading ahead of a sequential reader, a restore of many files, or
     * a collection for which a writer waits. It gets at least half of the disk's time, however many requests there are.
     */
    STEP(1),
    /**
     * Nobody waits for it: collections, defragmentation, promotion in the background. It gets about a tenth of the
     * disk's time beside readers that never pause, and all of it while there are none.
     */
    BACKGROUND(9);

    private final int patience;

    Importance(int patience) {
        this.patience = patience;
    }

    /** Returns for how many times its own duration a turn waits before it overtakes more important ones. */
    int patience() {
        return patience;
    }
}
