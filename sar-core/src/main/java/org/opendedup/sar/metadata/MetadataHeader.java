package org.opendedup.sar.metadata;

import java.util.UUID;

/**
 * What is fixed when a volume's metadata is made.
 *
 * @param volume the volume's identity
 * @param pageBytes span of one recipe record, a power of two
 * @param createdNs when it was made, in nanoseconds since 1970
 * @param formatVersion version of the database as a whole: {@link #FORMAT_VERSION}
 */
public record MetadataHeader(UUID volume, int pageBytes, long createdNs, int formatVersion) {
    /** The one version this program writes and reads. */
    public static final int FORMAT_VERSION = 2;

    public MetadataHeader {
        if (pageBytes <= 0 || Integer.bitCount(pageBytes) != 1) {
            throw new IllegalArgumentException("pageBytes must be a power of two, not " + pageBytes);
        }
    }
}
