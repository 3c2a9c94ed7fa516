package org.opendedup.sar.metadata.record;

import java.util.Arrays;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * The target of a directory entry.
 *
 * <p>Its record: a version byte, the file type and the inode number as varints. The key is the directory's inode
 * number, the name's hash, and the name.
 *
 * @param inode inode number
 * @param type file type, as in {@code mode & S_IFMT}
 */
public record Entry(long inode, int type) {
    static final int VERSION = 1;

    /** Offset of the name in a key, in bytes. */
    public static final int NAME_OFFSET = 2 * Keys.LONG_BYTES;

    /**
     * Shift of the type in a mode. The lowest twelve bits of a mode are permissions, the next four the type; shifted,
     * it is stored in one byte.
     */
    private static final int TYPE_SHIFT = 12;

    /** @param type file type, as in {@code mode & S_IFMT} */
    public static byte[] encode(long inode, int type) {
        return new ValueWriter(12)
                .writeByte(VERSION)
                .writeVarint(type >>> TYPE_SHIFT)
                .writeVarint(inode)
                .toBytes();
    }

    /**
     * @param directory its inode number; in a snapshot as {@link SnapshotIds} says, and then so is the entry's inode
     */
    public static Entry decode(long directory, byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(Births.body(value), "entry of directory", directory).expectVersion(VERSION);
        int type = (int) in.readVarint(15) << TYPE_SHIFT;
        long inode = SnapshotIds.beside(directory, in.readVarint(Long.MAX_VALUE));
        in.expectEnd();
        return new Entry(inode, type);
    }

    /**
     * Decodes a whole record.
     *
     * @throws CorruptionException if its name is none, or lies at another place than at its hash
     */
    public static Entry decode(byte[] key, byte[] value, NameHash hash)
            throws CorruptionException, UnsupportedFormatException {
        byte[] name = name(key);
        long directory = Keys.longAt(key, 0);
        if (key.length <= NAME_OFFSET
                || !EntryNames.isValid(name)
                || hash.of(directory, name) != Keys.longAt(key, Keys.LONG_BYTES)) {
            throw new CorruptionException("entry of directory " + directory, -1, "a name at its hash", "another");
        }
        return decode(directory, value);
    }

    /** Returns the name in a key, unchecked; empty if the key is too short to contain one. */
    public static byte[] name(byte[] key) {
        return Arrays.copyOfRange(key, Math.min(NAME_OFFSET, key.length), key.length);
    }
}
