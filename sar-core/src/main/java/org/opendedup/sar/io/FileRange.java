package org.opendedup.sar.io;

/**
 * A range of a file.
 *
 * @param offset of the first byte, from the start of the file
 * @param length in bytes, at least 1
 */
public record FileRange(long offset, long length) {
    /** @throws IllegalArgumentException if there is no such range in any file */
    public FileRange {
        if (offset < 0 || length <= 0 || length > Long.MAX_VALUE - offset) {
            throw new IllegalArgumentException("no range of a file: " + length + " bytes from byte " + offset);
        }
    }

    /** Returns the offset of the first byte after the range. */
    public long end() {
        return offset + length;
    }
}
