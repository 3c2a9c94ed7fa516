package org.opendedup.sar.common;

import java.io.IOException;

/**
 * Stored bytes are not what was written: a checksum, magic number, length or id is wrong. An operating error: nothing
 * is deleted because of it, and reads of the affected bytes fail with EIO.
 */
public final class CorruptionException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * @param place the file or record, named as an administrator would find it
     * @param offset byte offset in it, or -1 where an offset has no meaning
     * @param expected what should be there
     * @param found what is there
     */
    public CorruptionException(String place, long offset, String expected, String found) {
        super(place + (offset >= 0 ? " at byte " + offset : "") + ": expected " + expected + ", found " + found);
    }
}
