package org.opendedup.sar.scrub;

import org.opendedup.sar.common.StoredContainer;

/**
 * A place on the disk, in the order of packs.
 *
 * @param pack number of the pack
 * @param offset byte in it
 */
record Place(long pack, long offset) {
    /** Before every container. */
    static final Place BEGIN = new Place(0, 0);

    /** Returns the place right after a container. */
    static Place behind(StoredContainer stored) {
        return new Place(stored.pack(), stored.offset() + stored.bytes());
    }
}
