package org.opendedup.sar.volume.posix;

import java.util.List;

/**
 * All attributes of an inode at one moment.
 *
 * @param extended the extended ones, in the order of their names
 */
public record InodeState(Attributes attributes, List<Extended> extended) {
    public InodeState {
        extended = List.copyOf(extended);
    }

    /** An extended attribute. Its bytes must not be changed. */
    public record Extended(byte[] name, byte[] value) {}

    /**
     * Returns the state of a file on the fast tier, whose backing file has its bytes.
     *
     * @param size length in bytes
     * @param modifiedNs time of the last change of the bytes, in nanoseconds since 1970
     */
    public InodeState withBytes(long size, long modifiedNs) {
        return new InodeState(attributes.withBytes(size, modifiedNs), extended);
    }
}
