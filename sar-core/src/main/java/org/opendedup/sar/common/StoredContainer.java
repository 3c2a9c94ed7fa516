package org.opendedup.sar.common;

/**
 * Where a container lies and what it is: its entry in the container table.
 *
 * @param writing which writing of the container lies there
 * @param state whether the container is complete
 * @param pack number of the pack, the file in which it lies
 * @param offset its first byte in the pack, a multiple of 4096
 * @param bytes its length in the pack in bytes: if it is open, of the part that is known to be durable
 * @param slots number of slots in that length
 * @param rawBytes bytes of its chunks before compression, in that length
 */
public record StoredContainer(
        Writing writing, State state, long pack, long offset, long bytes, int slots, long rawBytes) {

    /** Whether a container is complete. */
    public enum State {
        /** Being written, or left by a crash: header and frames, without directory and footer. */
        OPEN,
        /** Complete: never changed in its place. */
        SEALED
    }
}
