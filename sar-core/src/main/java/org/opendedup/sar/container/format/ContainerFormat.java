package org.opendedup.sar.container.format;

import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * The container: header and footer, as docs/FORMAT.md specifies them.
 *
 * <pre>
 * container = header frame* directory footer
 * header    = magic:u32 version:u16 zero:u16 container:u64 salt:u64 generation:u32 crc:u32
 * directory = frame-table chunk-list* crc:u32             one chunk list for each frame that is not removed
 * footer    = magic:u32 version:u16 zero:u16 container:u64 salt:u64 generation:u32
 *             table-length:u32 directory-offset:u64 directory-length:u32 crc:u32
 * </pre>
 *
 * Header and footer keep their sizes and the places of magic, version and checksum in every version. So a reader can
 * distinguish a damaged version number from an unknown one.
 */
public final class ContainerFormat {
    /** Version of a container in which a chunk is lost. */
    static final int VERSION = 3;
    /** Version of any other container: programs that do not know lost chunks can read it. */
    static final int FORMER_VERSION = 2;

    /** Generation of the first writing of a container; each rewrite under the same id adds 1. */
    public static final int FIRST_GENERATION = 1;

    public static final int HEADER_BYTES = 32;
    public static final int FOOTER_BYTES = 48;

    /** Longest frame table, in bytes: its head, five numbers of at most five bytes for each frame, its checksum. */
    private static final int MAX_TABLE_BYTES = 16 + ChunkId.MAX_SLOTS * 5 * 5;
    /**
     * Longest directory, in bytes. A directory that claims to be longer is damaged, and no memory is allocated for it.
     */
    static final int MAX_DIRECTORY_BYTES = MAX_TABLE_BYTES + FrameFormat.MAX_LIST_BYTES + Integer.BYTES;

    /** {@code SARC} and {@code SARE}, as these bytes appear in the file. */
    private static final int HEADER_MAGIC = 0x43524153;

    private static final int FOOTER_MAGIC = 0x45524153;

    private ContainerFormat() {}

    /**
     * The footer of a container.
     *
     * @param tableBytes length in bytes of the frame table, with which the directory begins
     */
    public record Footer(ContainerIdentity identity, int tableBytes, long directoryOffset, int directoryBytes) {}

    /** As {@link #begin(ContainerIdentity, int, boolean)}, of a container without lost chunks. */
    public static Bytes begin(ContainerIdentity identity, int padding) {
        return begin(identity, padding, false);
    }

    /**
     * Returns {@code padding} zero bytes and a header: what precedes the first frame in a pack.
     *
     * @param hasLost whether a chunk of the container is lost
     */
    public static Bytes begin(ContainerIdentity identity, int padding, boolean hasLost) {
        Bytes out = new Bytes(padding + HEADER_BYTES);
        out.advance(padding);
        putHeader(identity, hasLost, out);
        return out;
    }

    static void putHeader(ContainerIdentity identity, boolean hasLost, Bytes out) {
        int start = out.length();
        putIdentity(HEADER_MAGIC, identity, hasLost, out);
        out.putCrc(start);
        assert out.length() - start == HEADER_BYTES;
    }

    public static void putFooter(Footer footer, boolean hasLost, Bytes out) {
        int start = out.length();
        putIdentity(FOOTER_MAGIC, footer.identity(), hasLost, out);
        out.putInt(footer.tableBytes());
        out.putLong(footer.directoryOffset());
        out.putInt(footer.directoryBytes());
        out.putCrc(start);
        assert out.length() - start == FOOTER_BYTES;
    }

    /** As {@link #tail(ContainerIdentity, byte[], Bytes, long, boolean)}, of a container without lost chunks. */
    public static Bytes tail(ContainerIdentity identity, byte[] frameTable, Bytes chunkLists, long offset) {
        return tail(identity, frameTable, chunkLists, offset, false);
    }

    /**
     * Returns all bytes that follow the frames, from {@code offset} in the container on: directory and footer.
     *
     * @param hasLost whether a chunk of the container is lost
     */
    public static Bytes tail(
            ContainerIdentity identity, byte[] frameTable, Bytes chunkLists, long offset, boolean hasLost) {
        int directoryBytes = frameTable.length + chunkLists.length() + Integer.BYTES;
        Bytes out = new Bytes(directoryBytes + FOOTER_BYTES);
        out.putBytes(frameTable, 0, frameTable.length);
        out.putBytes(chunkLists.array(), 0, chunkLists.length());
        out.putCrc(0);
        putFooter(new Footer(identity, frameTable.length, offset, directoryBytes), hasLost, out);
        return out;
    }

    private static void putIdentity(int magic, ContainerIdentity identity, boolean hasLost, Bytes out) {
        out.putInt(magic);
        out.putShort(hasLost ? VERSION : FORMER_VERSION);
        out.putShort(0);
        out.putLong(identity.container());
        out.putLong(identity.salt());
        out.putInt(identity.generation());
    }

    /** Returns whether the bytes at {@code offset} are the magic number with which a container begins. */
    public static boolean magicAt(byte[] bytes, int offset) {
        return Bytes.getInt(bytes, offset) == HEADER_MAGIC;
    }

    /** Returns whether the bytes at {@code offset} are the magic number with which a footer begins. */
    public static boolean footerMagicAt(byte[] bytes, int offset) {
        return Bytes.getInt(bytes, offset) == FOOTER_MAGIC;
    }

    /** Reads the header of whatever container it is that of. */
    public static ContainerIdentity readHeader(byte[] header, String place)
            throws CorruptionException, UnsupportedFormatException {
        checkEnvelope(header, HEADER_BYTES, HEADER_MAGIC, place, 0);
        return readIdentity(header, Bytes.getLong(header, 8), place, 0);
    }

    public static ContainerIdentity readHeader(byte[] header, long container, String place)
            throws CorruptionException, UnsupportedFormatException {
        checkEnvelope(header, HEADER_BYTES, HEADER_MAGIC, place, 0);
        return readIdentity(header, container, place, 0);
    }

    /** Reads a footer and checks that its lengths fit a container of {@code containerBytes} bytes. */
    public static Footer readFooter(byte[] footer, long container, long containerBytes, String place)
            throws CorruptionException, UnsupportedFormatException {
        long offset = containerBytes - FOOTER_BYTES;
        checkEnvelope(footer, FOOTER_BYTES, FOOTER_MAGIC, place, offset);
        ContainerIdentity identity = readIdentity(footer, container, place, offset);
        int tableBytes = Bytes.getInt(footer, 28);
        long directoryOffset = Bytes.getLong(footer, 32);
        int directoryBytes = Bytes.getInt(footer, 40);
        if (directoryOffset < HEADER_BYTES
                || directoryBytes < 0
                || directoryBytes > MAX_DIRECTORY_BYTES
                || directoryOffset + directoryBytes != offset
                || tableBytes < 0
                || tableBytes > directoryBytes - Integer.BYTES) {
            throw new CorruptionException(
                    place,
                    offset,
                    "a directory that ends at the footer",
                    "one of " + directoryBytes + " bytes at " + directoryOffset);
        }
        return new Footer(identity, tableBytes, directoryOffset, directoryBytes);
    }

    private static void checkEnvelope(byte[] bytes, int length, int magic, String place, long offset)
            throws CorruptionException, UnsupportedFormatException {
        if (Bytes.getInt(bytes, 0) != magic) {
            throw new CorruptionException(
                    place, offset, "magic " + Integer.toHexString(magic), Integer.toHexString(Bytes.getInt(bytes, 0)));
        }
        checkCrc(bytes, 0, length - Integer.BYTES, place, offset);
        int version = Bytes.getShort(bytes, 4);
        if (version != VERSION && version != FORMER_VERSION) {
            throw new UnsupportedFormatException(place, version, VERSION);
        }
    }

    private static ContainerIdentity readIdentity(byte[] bytes, long container, String place, long offset)
            throws CorruptionException {
        long found = Bytes.getLong(bytes, 8);
        if (found != container) {
            throw new CorruptionException(place, offset, "container id " + container, Long.toString(found));
        }
        return new ContainerIdentity(found, Bytes.getLong(bytes, 16), Bytes.getInt(bytes, 24));
    }

    /** Checks the CRC-32C that follows {@code count} bytes. */
    public static void checkCrc(byte[] bytes, int from, int count, String place, long offset)
            throws CorruptionException {
        int expected = Bytes.getInt(bytes, from + count);
        int found = Bytes.crc(bytes, from, count);
        if (expected != found) {
            throw new CorruptionException(
                    place, offset, "CRC-32C " + Integer.toHexString(expected), Integer.toHexString(found));
        }
    }
}
