package org.opendedup.sar.sim.tddfs.trace;

/**
 * A request to a file, which opens and closes the file.
 *
 * @param file number of the file, from 0
 * @param offset first byte; 0 for {@link Kind#CREATE} and {@link Kind#DELETE}
 * @param length bytes; of a new file its size; 0 for {@link Kind#DELETE}
 */
public record FileRequest(Kind kind, int file, long offset, long length) {
    /** The kind of a request. */
    public enum Kind {
        READ,
        /** Also appends: the file grows to the end of the write. */
        WRITE,
        /** Writes the file as a whole; an existing one is replaced. */
        CREATE,
        DELETE
    }

    /** @throws IllegalArgumentException if a number is negative, or a read or write has no bytes */
    public FileRequest {
        if (file < 0 || offset < 0 || length < 0 || length == 0 && kind != Kind.DELETE) {
            throw new IllegalArgumentException(
                    kind + " of " + length + " bytes at " + offset + " of file " + file + " is no request");
        }
    }

    /** Returns the offset after the last byte. */
    public long end() {
        return offset + length;
    }
}
