package org.opendedup.sar.io.handle;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The result of statx(2) for a file.
 *
 * @param mode type and permissions
 * @param inode its number in its file system
 * @param device number of the file system
 */
public record FileStatus(int mode, int uid, long links, long inode, long device, long size) {
    public static final int DIRECTORY = 0040000;
    public static final int REGULAR = 0100000;
    public static final int SYMBOLIC_LINK = 0120000;
    public static final int TYPE = 0170000;

    /** {@code sizeof(struct statx)} in bytes, the same on all architectures. */
    static final int BYTES = 256;
    /** STATX_BASIC_STATS. */
    static final int BASIC = 0x7ff;

    private static final int WRITABLE_BY_OTHERS = 022;
    private static final int OPEN_TO_OTHERS = 077;
    private static final int LINKS_AT = 16;
    private static final int UID_AT = 20;
    private static final int MODE_AT = 28;
    private static final int INODE_AT = 32;
    private static final int SIZE_AT = 40;
    private static final int DEVICE_MAJOR_AT = 136;
    private static final int DEVICE_MINOR_AT = 140;

    static FileStatus decode(byte[] statx) {
        ByteBuffer in = ByteBuffer.wrap(statx).order(ByteOrder.nativeOrder());
        return new FileStatus(
                Short.toUnsignedInt(in.getShort(MODE_AT)),
                in.getInt(UID_AT),
                Integer.toUnsignedLong(in.getInt(LINKS_AT)),
                in.getLong(INODE_AT),
                (long) in.getInt(DEVICE_MAJOR_AT) << Integer.SIZE | Integer.toUnsignedLong(in.getInt(DEVICE_MINOR_AT)),
                in.getLong(SIZE_AT));
    }

    public int type() {
        return mode & TYPE;
    }

    public boolean isDirectory() {
        return type() == DIRECTORY;
    }

    public boolean isRegular() {
        return type() == REGULAR;
    }

    public boolean isSymbolicLink() {
        return type() == SYMBOLIC_LINK;
    }

    /** Returns whether it belongs to a user and no other user may change its contents. */
    public boolean isWrittenOnlyBy(int user) {
        return uid == user && (mode & WRITABLE_BY_OTHERS) == 0;
    }

    /** Returns whether it belongs to a user and no other user has any access. */
    public boolean isPrivateTo(int user) {
        return uid == user && (mode & OPEN_TO_OTHERS) == 0;
    }

    public boolean isSameFile(FileStatus other) {
        return inode == other.inode && device == other.device && type() == other.type();
    }
}
