package org.opendedup.sar.metadata.record;

import java.io.IOException;
import java.util.UUID;

/**
 * The properties of a volume's metadata that are fixed at its creation.
 *
 * @param volume the volume's identity
 * @param pageBytes span of one recipe record in bytes, a power of two
 * @param createdNs creation time in nanoseconds since 1970
 * @param formatVersion version of the database as a whole: {@link #FORMAT_VERSION}
 * @param contents what the volume stores
 */
public record MetadataHeader(UUID volume, int pageBytes, long createdNs, int formatVersion, Contents contents) {
    /** The only version that this program writes and reads. */
    public static final int FORMAT_VERSION = 13;

    /** What a volume stores; the order is that of the stored format. */
    public enum Contents {
        /** Files with names, whose recipes are the references that the counts count. */
        FILES,
        /** Chunks for a client that knows their files and counts their references: no recipe is counted. */
        CHUNKS
    }

    public MetadataHeader {
        if (pageBytes <= 0 || Integer.bitCount(pageBytes) != 1) {
            throw new IllegalArgumentException("pageBytes must be a power of two, not " + pageBytes);
        }
    }

    /** Makes the header of a volume of files. */
    public MetadataHeader(UUID volume, int pageBytes, long createdNs, int formatVersion) {
        this(volume, pageBytes, createdNs, formatVersion, Contents.FILES);
    }

    /**
     * Checks that the volume has what the caller works on. What relies on recipes would take the chunks of a volume
     * without recipes for garbage.
     *
     * @throws IOException if it has not; the message says what it has
     */
    public void require(Contents wanted) throws IOException {
        if (contents != wanted) {
            throw new IOException(
                    contents == Contents.CHUNKS
                            ? "the volume has chunks without files: it is the chunk store of an SDFS volume, whose own"
                                    + " mount opens it with the plugin (docs/PLUGIN.md). Nothing was changed"
                            : "the volume has files: it is not the chunk store of an SDFS volume. Mount it with"
                                    + " mount.sdfs of SAR for SDFS. Nothing was changed");
        }
    }
}
