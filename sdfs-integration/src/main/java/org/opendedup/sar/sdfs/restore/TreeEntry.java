package org.opendedup.sar.sdfs.restore;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A file, folder or other thing of a tree that is restored, as it was when the tree was walked.
 *
 * @param path from the tree's root, names separated by slashes; empty for the root itself
 * @param target of a symbolic link; else empty
 * @param extendedAttributes with access lists
 */
record TreeEntry(
        long inode,
        int mode,
        int links,
        int uid,
        int gid,
        int device,
        long size,
        long accessedNs,
        long modifiedNs,
        long changedNs,
        byte[] path,
        byte[] target,
        List<ExtendedAttribute> extendedAttributes) {
    private static final int TYPE = 0170000;
    private static final int DIRECTORY = 0040000;
    private static final int REGULAR = 0100000;
    private static final int SYMBOLIC_LINK = 0120000;
    private static final int FIXED_BYTES = 5 * Long.BYTES + 8 * Integer.BYTES;

    /** A name with its value. */
    record ExtendedAttribute(byte[] name, byte[] value) {}

    boolean isDirectory() {
        return (mode & TYPE) == DIRECTORY;
    }

    boolean isRegular() {
        return (mode & TYPE) == REGULAR;
    }

    boolean isSymbolicLink() {
        return isSymbolicLink(mode);
    }

    static boolean isSymbolicLink(int mode) {
        return (mode & TYPE) == SYMBOLIC_LINK;
    }

    /** Whether it has other names, perhaps in the same tree. */
    boolean isLinked() {
        return !isDirectory() && links > 1;
    }

    int permissions() {
        return mode & ~TYPE;
    }

    /** For the {@link EntryLog}. */
    ByteBuffer encode() {
        int bytes = FIXED_BYTES + path.length + target.length;
        for (ExtendedAttribute attribute : extendedAttributes) {
            bytes += 2 * Integer.BYTES + attribute.name.length + attribute.value.length;
        }
        ByteBuffer out = ByteBuffer.allocate(bytes);
        out.putLong(inode).putInt(mode).putInt(links).putInt(uid).putInt(gid).putInt(device);
        out.putLong(size).putLong(accessedNs).putLong(modifiedNs).putLong(changedNs);
        put(out, path);
        put(out, target);
        out.putInt(extendedAttributes.size());
        for (ExtendedAttribute attribute : extendedAttributes) {
            put(out, attribute.name);
            put(out, attribute.value);
        }
        return out.flip();
    }

    static TreeEntry decode(ByteBuffer in) {
        return new TreeEntry(
                in.getLong(),
                in.getInt(),
                in.getInt(),
                in.getInt(),
                in.getInt(),
                in.getInt(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                get(in),
                get(in),
                attributes(in));
    }

    private static List<ExtendedAttribute> attributes(ByteBuffer in) {
        int count = in.getInt();
        var attributes = new ArrayList<ExtendedAttribute>(count);
        for (int i = 0; i < count; i++) {
            attributes.add(new ExtendedAttribute(get(in), get(in)));
        }
        return attributes;
    }

    private static void put(ByteBuffer out, byte[] bytes) {
        out.putInt(bytes.length).put(bytes);
    }

    private static byte[] get(ByteBuffer in) {
        byte[] bytes = new byte[in.getInt()];
        in.get(bytes);
        return bytes;
    }
}
