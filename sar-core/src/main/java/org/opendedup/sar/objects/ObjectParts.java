package org.opendedup.sar.objects;

import java.io.IOException;
import java.util.List;

/**
 * Puts an object in parts, each with a request of its own, in any order and at the same time. Nothing is visible before
 * all parts are there and the put is completed. Errors are those of {@link ObjectStore}.
 */
public interface ObjectParts {
    /** Fewest bytes of a part other than the last. */
    int LEAST_BYTES = 5 << 20;

    /** Most parts of an object. */
    int MOST_PARTS = 10_000;

    /**
     * A part that the store has.
     *
     * @param receipt what the store answered
     * @param crc32c its CRC-32C
     */
    record Part(String receipt, int crc32c) {}

    /** Begins a put and returns the store's name of it, which the following calls take as {@code upload}. */
    String begin(String name, ObjectSource source) throws IOException;

    /**
     * Sends a part. One with the same number that was sent before is replaced.
     *
     * @param number its place among the parts, from 1
     */
    Part put(String name, String upload, int number, ObjectSource part) throws IOException;

    /**
     * Makes the object of its parts.
     *
     * @param parts all parts, in their order
     * @throws java.nio.file.FileAlreadyExistsException as for {@link ObjectStore#put}
     * @throws java.nio.file.NoSuchFileException if there is no such upload: it was completed or abandoned
     */
    void complete(String name, String upload, List<Part> parts) throws IOException;

    /** Gives a put up, and the space of its parts back. Does nothing if there is no such upload. */
    void abandon(String name, String upload) throws IOException;
}
