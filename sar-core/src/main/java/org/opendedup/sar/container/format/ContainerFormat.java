package org.opendedup.sar.container.format;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * The container: header and footer, as docs/FORMAT.md specifies them.
 *
 * <pre>
 * container = header frame* directory footer
 * header    = magic:u32 version:u16 zero:u16 container:u64 salt:u64 generation:u32 crc:u32
 * directory = frame-table chunk-list* ( tag:16 bytes key-salt:u64 )? crc:u32
 *                                                         one chunk list for each frame that is not removed; in an
 *                                                         encrypted volume they are encrypted together, and the tag
 *                                                         authenticates footer and frame table as well
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
    /** Version of an encrypted container, with or without lost chunks. */
    static final int ENCRYPTED_VERSION = 4;

    /** Generation of the first writing of a container; each rewrite under the same id adds 1. */
    public static final int FIRST_GENERATION = 1;

    public static final int HEADER_BYTES = 32;
    public static final int FOOTER_BYTES = 48;

    /** Longest frame table, in bytes: its head, five numbers of at most five bytes for each frame, its checksum. */
    private static final int MAX_TABLE_BYTES = 16 + ChunkId.MAX_SLOTS * 5 * 5;
    /**
     * Longest directory, in bytes. A directory that claims to be longer is damaged, and no memory is allocated for it.
     */
    static final int MAX_DIRECTORY_BYTES =
            MAX_TABLE_BYTES + FrameFormat.MAX_LIST_BYTES + ContainerCipher.TAG_BYTES + Integer.BYTES;

    /** Number under which chunk lists are encrypted; frames have the numbers of their first slots. */
    private static final long LISTS = -1;

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

    /** As {@link #begin(ContainerWriting, int, boolean)}, of a container without lost chunks. */
    public static Bytes begin(ContainerWriting writing, int padding) {
        return begin(writing, padding, false);
    }

    /**
     * Returns {@code padding} zero bytes and a header: what precedes the first frame in a pack.
     *
     * @param hasLost whether a chunk of the container is lost
     */
    public static Bytes begin(ContainerWriting writing, int padding, boolean hasLost) {
        Bytes out = new Bytes(padding + HEADER_BYTES);
        out.advance(padding);
        putHeader(writing.identity(), version(writing.tagBytes(), hasLost), out);
        return out;
    }

    static void putHeader(ContainerIdentity identity, int version, Bytes out) {
        int start = out.length();
        putIdentity(HEADER_MAGIC, identity, version, out);
        out.putCrc(start);
        assert out.length() - start == HEADER_BYTES;
    }

    /** @param version that of the container */
    public static void putFooter(Footer footer, int version, Bytes out) {
        int start = out.length();
        putIdentity(FOOTER_MAGIC, footer.identity(), version, out);
        out.putInt(footer.tableBytes());
        out.putLong(footer.directoryOffset());
        out.putInt(footer.directoryBytes());
        out.putCrc(start);
        assert out.length() - start == FOOTER_BYTES;
    }

    /** As {@link #tail(ContainerWriting, byte[], Bytes, long, boolean)}, of a container without lost chunks. */
    public static Bytes tail(ContainerWriting writing, byte[] frameTable, Bytes chunkLists, long offset) {
        return tail(writing, frameTable, chunkLists, offset, false);
    }

    /**
     * Returns all bytes that follow the frames, from {@code offset} in the container on: directory and footer.
     *
     * @param hasLost whether a chunk of the container is lost
     */
    public static Bytes tail(
            ContainerWriting writing, byte[] frameTable, Bytes chunkLists, long offset, boolean hasLost) {
        int directoryBytes = frameTable.length + chunkLists.length() + writing.tagBytes() + Integer.BYTES;
        Footer footer = new Footer(writing.identity(), frameTable.length, offset, directoryBytes);
        byte[] footerBytes = encode(footer, version(writing.tagBytes(), hasLost));
        Bytes out = new Bytes(directoryBytes + FOOTER_BYTES);
        out.putBytes(frameTable, 0, frameTable.length);
        out.putBytes(chunkLists.array(), 0, chunkLists.length());
        writing.encryptLists(LISTS, footerBytes, out, frameTable.length);
        out.putCrc(0);
        out.putBytes(footerBytes, 0, FOOTER_BYTES);
        return out;
    }

    private static int version(int tagBytes, boolean hasLost) {
        return tagBytes > 0 ? ENCRYPTED_VERSION : hasLost ? VERSION : FORMER_VERSION;
    }

    private static byte[] encode(Footer footer, int version) {
        Bytes out = new Bytes(FOOTER_BYTES);
        putFooter(footer, version, out);
        return out.array();
    }

    /**
     * Makes the chunk lists of a directory readable in their place, if they are encrypted; they end
     * {@link ContainerCipher#tagBytes} before its checksum.
     *
     * @return null on success, else what is wrong with the directory
     */
    public static @Nullable String openLists(byte[] directory, Footer footer, ContainerCipher cipher) {
        int tagBytes = cipher.tagBytes();
        if (tagBytes == 0) {
            return null;
        }
        int lists = footer.tableBytes();
        int count = directory.length - Integer.BYTES - tagBytes - lists;
        byte[] footerBytes = encode(footer, ENCRYPTED_VERSION);
        boolean isRight =
                cipher.open(footer.identity(), LISTS, footerBytes, directory, 0, lists, count, directory, lists);
        return isRight ? null : ContainerCipher.CHANGED;
    }

    private static void putIdentity(int magic, ContainerIdentity identity, int version, Bytes out) {
        out.putInt(magic);
        out.putShort(version);
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

    /**
     * Reads the header of whatever container it is that of.
     *
     * @param cipher that of the volume: a container that it did not write is refused
     */
    public static ContainerIdentity readHeader(byte[] header, ContainerCipher cipher, String place)
            throws CorruptionException, UnsupportedFormatException {
        return readHeader(header, Bytes.getLong(header, 8), cipher, place);
    }

    /** As the other, of that container. */
    public static ContainerIdentity readHeader(byte[] header, long container, ContainerCipher cipher, String place)
            throws CorruptionException, UnsupportedFormatException {
        checkEnvelope(header, HEADER_BYTES, HEADER_MAGIC, cipher, place, 0);
        return readIdentity(header, container, place, 0);
    }

    /**
     * Reads a footer and checks that its lengths fit a container of {@code containerBytes} bytes.
     *
     * @param cipher as for {@link #readHeader}
     */
    public static Footer readFooter(
            byte[] footer, long container, long containerBytes, ContainerCipher cipher, String place)
            throws CorruptionException, UnsupportedFormatException {
        long offset = containerBytes - FOOTER_BYTES;
        checkEnvelope(footer, FOOTER_BYTES, FOOTER_MAGIC, cipher, place, offset);
        ContainerIdentity identity = readIdentity(footer, container, place, offset);
        int tableBytes = Bytes.getInt(footer, 28);
        long directoryOffset = Bytes.getLong(footer, 32);
        int directoryBytes = Bytes.getInt(footer, 40);
        if (directoryOffset < HEADER_BYTES
                || directoryBytes < 0
                || directoryBytes > MAX_DIRECTORY_BYTES
                || directoryOffset + directoryBytes != offset
                || tableBytes < 0
                || tableBytes > directoryBytes - cipher.tagBytes() - Integer.BYTES) {
            throw new CorruptionException(
                    place,
                    offset,
                    "a directory that ends at the footer",
                    "one of " + directoryBytes + " bytes at " + directoryOffset);
        }
        return new Footer(identity, tableBytes, directoryOffset, directoryBytes);
    }

    private static void checkEnvelope(
            byte[] bytes, int length, int magic, ContainerCipher cipher, String place, long offset)
            throws CorruptionException, UnsupportedFormatException {
        if (Bytes.getInt(bytes, 0) != magic) {
            throw new CorruptionException(
                    place, offset, "magic " + Integer.toHexString(magic), Integer.toHexString(Bytes.getInt(bytes, 0)));
        }
        checkCrc(bytes, 0, length - Integer.BYTES, place, offset);
        checkVersion(Bytes.getShort(bytes, 4), cipher, place, offset);
        if (Bytes.getShort(bytes, 6) != 0) {
            throw new CorruptionException(place, offset, "0 after the version", "another number");
        }
    }

    private static void checkVersion(int version, ContainerCipher cipher, String place, long offset)
            throws CorruptionException, UnsupportedFormatException {
        boolean isEncrypted = version == ENCRYPTED_VERSION;
        if (!isEncrypted && version != VERSION && version != FORMER_VERSION) {
            throw new UnsupportedFormatException(place, version, VERSION);
        }
        String problem = cipher.problemOf(isEncrypted);
        if (problem != null && isEncrypted) {
            throw UnsupportedFormatException.encrypted(place);
        }
        if (problem != null) {
            throw new CorruptionException(place, offset, "a container that this volume wrote", problem);
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
