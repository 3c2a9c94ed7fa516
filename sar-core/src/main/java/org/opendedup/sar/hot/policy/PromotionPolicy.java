package org.opendedup.sar.hot.policy;

import org.opendedup.sar.disk.DiskCost;
import org.opendedup.sar.ssd.Cause;

/**
 * Decides what makes a chunk worth its space on the SSD. Plain values in and out, no state: the mounted volume and the
 * trace-driven simulator run the same code.
 */
public interface PromotionPolicy {
    /**
     * Returns whether a stored chunk that was referenced or read again belongs on the SSD.
     *
     * @param count references to the chunk
     * @param lengthBytes bytes of the chunk before compression
     * @param runBytes bytes of the run it was requested in: neighbours in the request that are contiguous in its
     *     container and cost the disk one request together
     */
    boolean promotes(Cause cause, int count, int lengthBytes, long runBytes);

    /** Returns whether the first read of a chunk promotes it; else the second one does. */
    default boolean promotesFirstRead() {
        return false;
    }

    /** Returns whether a file comes to an SSD of this capacity as a whole when it is opened; sizes in bytes. */
    default boolean reloads(long fileBytes, long capacityBytes) {
        return false;
    }

    /**
     * Returns whether a chunk may stay on the SSD after the settings changed.
     *
     * @param saving saving of the shortest run it was requested in, see {@link DiskCost#saving}
     */
    default boolean keeps(int count, int saving) {
        return count > 0;
    }

    /**
     * Returns the references by which a candidate is ranked against the contents of a full SSD.
     *
     * @param count references to it
     */
    default int worth(Cause cause, int count) {
        return count;
    }

    /**
     * Returns the saving per KiB to expect of a read, as {@link #rank} uses it. It is less than a read would save if a
     * read is unlikely.
     *
     * @param saving disk time saved if the chunk is read, see {@link DiskCost#saving}
     * @return at least 1, at most {@code saving}
     */
    default int expectedSaving(Cause cause, int saving) {
        return saving;
    }

    /** Returns whether a chunk promoted for this cause may displace another; if not, it only gets free space. */
    default boolean displaces(Cause cause) {
        return true;
    }

    /**
     * Returns the worth of a copy. Where space is needed, the lowest ranks are demoted first, and a candidate below all
     * of them is refused.
     *
     * @param count references to the chunk, as known to the Map table
     * @param recordBytes bytes of its record on the SSD
     * @param saving see {@link #expectedSaving}; the full saving once the copy was read from the SSD
     * @param heat recent requests for it, 0 to 255
     */
    long rank(int count, int recordBytes, int saving, int heat);
}
