package org.opendedup.sar.metadata;

import java.util.UUID;

/**
 * The properties of a volume's metadata that are fixed at its creation.
 *
 * @param volume the volume's identity
 * @param pageBytes span of one recipe record in bytes, a power of two
 * @param createdNs creation time in nanoseconds since 1970
 * @param formatVersion version of the database as a whole: {@link #FORMAT_VERSION}
 */
public record MetadataHeader(UUID volume, int pageBytes, long createdNs, int formatVersion) {
    /** The only version that this program writes and reads. */
    public static final int FORMAT_VERSION = 9;

    public MetadataHeader {
        if (pageBytes <= 0 || Integer.bitCount(pageBytes) != 1) {
            throw new IllegalArgumentException("pageBytes must be a power of two, not " + pageBytes);
        }
    }
}
