package org.opendedup.sar.sdfs.restore;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.io.handle.FileStatus;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.InodeState;
import org.opendedup.sar.volume.posix.InodeState.Extended;

/**
 * A file, folder or other entry of a tree, as it was when the tree was walked.
 *
 * @param parent number in the {@link EntryLog} of the folder that contains it; {@link #NONE} for the tree's root
 * @param name name in that folder; empty for the root
 * @param target target of a symbolic link; otherwise empty
 * @param extendedAttributes extended attributes, including access lists
 */
public record TreeEntry(
        long parent,
        byte[] name,
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
        byte[] target,
        List<Extended> extendedAttributes) {
    /** Parent of the root: no folder. */
    static final long NONE = -1;

    private static final int FIXED_BYTES = 6 * Long.BYTES + 8 * Integer.BYTES;

    public boolean isRoot() {
        return parent == NONE;
    }

    int type() {
        return mode & FileStatus.TYPE;
    }

    public boolean isDirectory() {
        return type() == FileStatus.DIRECTORY;
    }

    public boolean isRegular() {
        return type() == FileStatus.REGULAR;
    }

    boolean isSymbolicLink() {
        return isSymbolicLink(mode);
    }

    static boolean isSymbolicLink(int mode) {
        return (mode & FileStatus.TYPE) == FileStatus.SYMBOLIC_LINK;
    }

    /** Returns whether it has other names, possibly in the same tree. */
    boolean isLinked() {
        return !isDirectory() && links > 1;
    }

    /** Returns the entry with the attributes that its inode has at another moment. */
    TreeEntry with(InodeState state) {
        Attributes at = state.attributes();
        return new TreeEntry(
                parent,
                name,
                inode,
                at.mode(),
                links,
                at.uid(),
                at.gid(),
                device,
                at.size(),
                at.accessedNs(),
                at.modifiedNs(),
                at.changedNs(),
                target,
                state.extended());
    }

    /**
     * Returns what a restore makes of the entry before its bytes. Its length belongs to them; its owner, mode and times
     * are set at the end. So a resumed restore takes all these as they are then.
     */
    TreeEntry made() {
        return new TreeEntry(parent, name, inode, type(), links, 0, 0, device, 0, 0, 0, 0, target, extendedAttributes);
    }

    int permissions() {
        return mode & ~FileStatus.TYPE;
    }

    /** Encodes the entry for the {@link EntryLog}. */
    ByteBuffer encode() {
        int bytes = FIXED_BYTES + name.length + target.length;
        for (Extended attribute : extendedAttributes) {
            bytes += 2 * Integer.BYTES + attribute.name().length + attribute.value().length;
        }
        ByteBuffer out = ByteBuffer.allocate(bytes);
        out.putLong(parent)
                .putLong(inode)
                .putInt(mode)
                .putInt(links)
                .putInt(uid)
                .putInt(gid)
                .putInt(device);
        out.putLong(size).putLong(accessedNs).putLong(modifiedNs).putLong(changedNs);
        put(out, name);
        put(out, target);
        out.putInt(extendedAttributes.size());
        for (Extended attribute : extendedAttributes) {
            put(out, attribute.name());
            put(out, attribute.value());
        }
        return out.flip();
    }

    /** @throws BufferUnderflowException if the lengths in it do not match an entry */
    static TreeEntry decode(ByteBuffer in) {
        long parent = in.getLong();
        long inode = in.getLong();
        int mode = in.getInt();
        int links = in.getInt();
        int uid = in.getInt();
        int gid = in.getInt();
        int device = in.getInt();
        long size = in.getLong();
        long accessedNs = in.getLong();
        long modifiedNs = in.getLong();
        long changedNs = in.getLong();
        return new TreeEntry(
                parent,
                get(in),
                inode,
                mode,
                links,
                uid,
                gid,
                device,
                size,
                accessedNs,
                modifiedNs,
                changedNs,
                get(in),
                attributes(in));
    }

    private static List<Extended> attributes(ByteBuffer in) {
        int count = checked(in.getInt(), in.remaining() / (2 * Integer.BYTES));
        var attributes = new ArrayList<Extended>(count);
        for (int i = 0; i < count; i++) {
            attributes.add(new Extended(get(in), get(in)));
        }
        return attributes;
    }

    private static void put(ByteBuffer out, byte[] bytes) {
        out.putInt(bytes.length).put(bytes);
    }

    private static byte[] get(ByteBuffer in) {
        byte[] bytes = new byte[checked(in.getInt(), in.remaining())];
        in.get(bytes);
        return bytes;
    }

    private static int checked(int count, int max) {
        if (count < 0 || count > max) {
            throw new BufferUnderflowException();
        }
        return count;
    }
}
