package org.opendedup.sar.objects;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.io.Input;

/**
 * The format of an object's file (docs/FORMAT.md): the bytes of the object, and a trailer that states them. At the end,
 * so that an offset in the object is one in the file. Integers are little endian.
 *
 * <pre>
 * trailer = magic:u32 version:u32 token:u64,u64 length:u64 crc32c:u32 crc:u32
 * </pre>
 *
 * {@code crc32c} is of the object's bytes, {@code crc} of the trailer before it.
 */
final class FolderObject {
    static final int TRAILER_BYTES = 40;

    /** {@code SARO}, as these bytes appear in the file. */
    private static final int MAGIC = 0x4f524153;

    private static final int VERSION = 1;

    private FolderObject() {}

    static ByteBuffer trailer(ObjectStatus status) {
        ByteBuffer trailer = allocate()
                .putInt(MAGIC)
                .putInt(VERSION)
                .putLong(status.token().getMostSignificantBits())
                .putLong(status.token().getLeastSignificantBits())
                .putLong(status.length())
                .putInt(status.crc32c());
        return trailer.putInt(checksum(trailer)).flip();
    }

    /** Returns what the trailer of a file states; compares it with the length of the file. */
    static ObjectStatus status(String file, Input input) throws IOException {
        long length = length(file, input.length());
        ByteBuffer trailer = allocate();
        input.readFully(length, trailer);
        trailer.flip();
        int magic = trailer.getInt();
        int version = trailer.getInt();
        ObjectStatus status = statusIn(trailer);
        if (magic != MAGIC) {
            throw new CorruptionException(
                    file, length, String.format("magic %08x", MAGIC), String.format("%08x", magic));
        } else if (version != VERSION) {
            throw new UnsupportedFormatException(file, version, VERSION);
        }
        ObjectSource.compare(file, trailer.getInt(), checksum(trailer));
        if (status.length() != length) {
            throw new CorruptionException(file, -1, status.length() + " bytes", length + " bytes");
        }
        return status;
    }

    private static ByteBuffer allocate() {
        return ByteBuffer.allocate(TRAILER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ObjectStatus statusIn(ByteBuffer trailer) {
        UUID token = new UUID(trailer.getLong(), trailer.getLong());
        return new ObjectStatus(trailer.getLong(), trailer.getInt(), token);
    }

    /** Returns the length of the object in a file. */
    static long length(String file, long fileLength) throws CorruptionException {
        if (fileLength < TRAILER_BYTES) {
            throw new CorruptionException(file, -1, "at least " + TRAILER_BYTES + " bytes", fileLength + " bytes");
        }
        return fileLength - TRAILER_BYTES;
    }

    /** Of the trailer but for its last field. */
    private static int checksum(ByteBuffer trailer) {
        CRC32C crc = new CRC32C();
        crc.update(trailer.array(), 0, TRAILER_BYTES - Integer.BYTES);
        return (int) crc.getValue();
    }
}
