package org.opendedup.sar.metadata.record;

import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;

/** The CRC-32C at the end of a record that decides whose bytes a reader gets; it covers the key and the value. */
public final class RecordChecksum {
    public static final int BYTES = 4;

    private RecordChecksum() {}

    /** Returns the checksum of a key and the first {@code length} bytes of a value. */
    public static int of(byte[] key, byte[] value, int length) {
        CRC32C crc = new CRC32C();
        crc.update(key);
        crc.update(value, 0, length);
        return (int) crc.getValue();
    }

    /** Verifies a value that ends with its checksum, and that has a version byte before it. */
    public static void verify(byte[] key, byte[] value, String kind, long id) throws CorruptionException {
        ValueReader in = new ValueReader(value, kind, id);
        if (value.length < 1 + BYTES) {
            throw in.corruption("at least " + (1 + BYTES) + " bytes", value.length + " bytes");
        }
        int expected = of(key, value, value.length - BYTES);
        int found = in.skip(value.length - BYTES).readIntLittleEndian();
        if (found != expected) {
            throw in.corruption(String.format("checksum %08x", expected), String.format("%08x", found));
        }
    }
}
