package org.opendedup.sar.objects;

import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Small objects that are replaced as a whole, if they still are in the version that was read (compare and set). A name
 * is either that of such an object or of one that is put once, for ever. {@link ObjectStore#list} and
 * {@link ObjectStore#delete} know both. Errors are those of {@link ObjectStore}.
 */
public interface ReplaceableObjects {
    /** Most bytes of such an object. */
    int MOST_BYTES = 64 << 10;

    /**
     * An object as it was read.
     *
     * @param version names this version; no other version of the object ever has the same
     * @param token the token with which it was written
     */
    record Version(String version, UUID token, byte[] contents) {}

    /** Throws an {@link IllegalArgumentException} if an object may not have these contents. */
    static void check(byte[] contents) {
        if (contents.length > MOST_BYTES) {
            throw new IllegalArgumentException(
                    contents.length + " bytes to be replaced as a whole; the most are " + MOST_BYTES);
        }
    }

    /** Returns an object as it is now; empty if there is none. */
    Optional<Version> current(String name) throws IOException;

    /**
     * Writes a new version of an object; durable when it returns. Of several replacements of one version one alone
     * succeeds, so each version has one successor.
     *
     * @param expected the version to be replaced; null to make the object
     * @param token made at random for this version: tells it from versions of others with the same contents
     * @return the name of the new version
     * @throws VersionChangedException if the object is not in that version; so it is after an earlier try of this
     *     replacement had succeeded, which the token of the present version tells
     */
    String replace(String name, @Nullable String expected, UUID token, byte[] contents) throws IOException;
}
