package org.opendedup.sar.metadata.record;

import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * The records of stream logs that are not pages ({@link RecipeFormat}): hooks, and the summary of all logs.
 *
 * <pre>
 * hook    := type and version (1 byte: 0x21)  log (varint)  page (varint)
 *            crc (4 bytes: CRC-32C of the key and of all bytes before it)
 * summary := version (1 byte: 1)  references (varint)  oldest log (varint)  its oldest page (varint)
 * </pre>
 */
public final class StreamLogFormat {
    /** Type 2 of the records of the family {@code recipe}; version 1. */
    static final int HOOK_VERSION = 0x21;

    static final int SUMMARY_VERSION = 1;

    private StreamLogFormat() {}

    /**
     * What is known of all logs together.
     *
     * @param references number of references in all pages
     * @param oldest no page before it exists
     */
    public record Summary(long references, StreamPlace oldest) {
        public static final Summary NONE = new Summary(0, StreamPlace.FIRST);
    }

    public static byte[] encodeHook(byte[] key, StreamPlace place) {
        ValueWriter out = new ValueWriter(16)
                .writeByte(HOOK_VERSION)
                .writeVarint(place.log())
                .writeVarint(place.page());
        return out.writeIntLittleEndian(RecordChecksum.of(key, out.buffer(), out.length()))
                .toBytes();
    }

    public static StreamPlace decodeHook(byte[] key, byte[] value)
            throws CorruptionException, UnsupportedFormatException {
        long chunk = Keys.longAt(key, Keys.LONG_BYTES);
        String kind = "hook of chunk";
        RecordChecksum.verify(key, value, kind, chunk);
        ValueReader in =
                new ValueReader(value, value.length - RecordChecksum.BYTES, kind, chunk).expectVersion(HOOK_VERSION);
        StreamPlace place = new StreamPlace(in.readVarint(Long.MAX_VALUE), in.readVarint(Long.MAX_VALUE));
        in.expectEnd();
        return place;
    }

    public static byte[] encodeSummary(Summary summary) {
        return new ValueWriter(24)
                .writeByte(SUMMARY_VERSION)
                .writeVarint(summary.references())
                .writeVarint(summary.oldest().log())
                .writeVarint(summary.oldest().page())
                .toBytes();
    }

    public static Summary decodeSummary(byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(value, "summary of stream logs, format", SUMMARY_VERSION)
                .expectVersion(SUMMARY_VERSION);
        long references = in.readVarint(Long.MAX_VALUE);
        StreamPlace oldest = new StreamPlace(in.readVarint(Long.MAX_VALUE), in.readVarint(Long.MAX_VALUE));
        in.expectEnd();
        return new Summary(references, oldest);
    }
}
