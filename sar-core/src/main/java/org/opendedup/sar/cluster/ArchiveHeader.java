package org.opendedup.sar.cluster;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * The begin of an archive's object. Behind it, to the end, come records: each block of the files' bytes, in their
 * order, and each {@link ArchiveEntry}. Integers are big endian.
 *
 * <pre>
 * archive = magic:u32 version:u32 made:s64 files:u64 bytes:u64 newBytes:u64 record*
 * block   = 3:u8 shard:u16 length:u32 sha256
 * entry   = kind:u8 mode:u16 uid:u32 gid:u32 seconds:s64 nanos:u32 offset:u64 bytes:u64 path target
 * </pre>
 *
 * @param madeMillis when it was complete, in milliseconds since 1970
 * @param files number of files
 * @param bytes length of all files, in bytes
 * @param newBytes length of the blocks that no volume had, in bytes
 */
record ArchiveHeader(long madeMillis, long files, long bytes, long newBytes) {
    static final int BYTES = 40;

    /** Begins the names of all archives. */
    static final String FOLDER = "archives/";

    /** {@code SARA}. */
    private static final int MAGIC = 0x53415241;

    private static final int VERSION = 1;

    byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .putInt(MAGIC)
                .putInt(VERSION)
                .putLong(madeMillis)
                .putLong(files)
                .putLong(bytes)
                .putLong(newBytes)
                .array();
    }

    /** @throws IOException if the bytes begin no archive of this version */
    static ArchiveHeader decode(String file, byte[] encoded) throws IOException {
        ByteBuffer source = ByteBuffer.wrap(encoded);
        int magic = source.getInt();
        int version = source.getInt();
        if (magic != MAGIC) {
            throw new CorruptionException(file, 0, String.format("magic %08x", MAGIC), String.format("%08x", magic));
        } else if (version != VERSION) {
            throw new UnsupportedFormatException(file, version, VERSION);
        }
        return new ArchiveHeader(source.getLong(), source.getLong(), source.getLong(), source.getLong());
    }
}
