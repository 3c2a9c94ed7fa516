package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.ATTR_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.DIRENT_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.ENTRY_OUT_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.OUT_HEADER_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.PAGE_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.STATX_OUT_BYTES;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.sdfs.fuse.DeviceNumber;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.volume.posix.Attributes;

/**
 * Encodes a reply in a buffer. One object serves all replies of a channel.
 *
 * <p>Header ({@code fuse_out_header}), sizes in bytes: length 4, negative error number 4, unique 8.
 */
final class Reply {
    /**
     * Time that the kernel may cache names and attributes, in seconds: one day. Only the kernel changes them, so this
     * limit only bounds the effect of an error in this program. Snapshots are made and deleted by commands: the kernel
     * asks for their names, and for the attributes of their folder, each time.
     */
    static final long CACHE_SECONDS = 86_400;

    /** Time in seconds for which the kernel may cache the attributes of an inode. */
    @FunctionalInterface
    interface Validity {
        long secondsOf(long inode);
    }

    private static final long NANOS = 1_000_000_000;

    private final Validity validity;
    private final ByteBuffer buffer;
    /** The same bytes; position and limit are set again for each read. */
    private final ByteBuffer data;

    private int position;

    Reply(ByteBuffer buffer) {
        this(buffer, inode -> CACHE_SECONDS);
    }

    Reply(ByteBuffer buffer, Validity validity) {
        this.validity = validity;
        this.buffer = buffer.order(ByteOrder.nativeOrder());
        this.data = buffer.duplicate();
    }

    void begin() {
        position = OUT_HEADER_BYTES;
    }

    /**
     * Completes a reply.
     *
     * @return length of the reply in bytes
     */
    int success(long unique) {
        return header(position, 0, unique);
    }

    /**
     * Makes the reply an error and discards its body.
     *
     * @return length of the reply in bytes
     */
    int error(int errno, long unique) {
        return header(OUT_HEADER_BYTES, -errno, unique);
    }

    private int header(int length, int error, long unique) {
        buffer.putInt(0, length);
        buffer.putInt(4, error);
        buffer.putLong(8, unique);
        return length;
    }

    boolean isError() {
        return buffer.getInt(4) != 0;
    }

    int length() {
        return buffer.getInt(0);
    }

    long getLong(int offset) {
        return buffer.getLong(offset);
    }

    int getInt(int offset) {
        return buffer.getInt(offset);
    }

    /**
     * Returns room for {@code bytes} bytes, to be filled by a read. Then {@link #advance} takes the number of bytes
     * filled.
     */
    ByteBuffer room(int bytes) {
        return data.limit(position + bytes).position(position);
    }

    void advance(int bytes) {
        position += bytes;
    }

    int put() {
        return position - OUT_HEADER_BYTES;
    }

    void putInt(int value) {
        buffer.putInt(position, value);
        position += 4;
    }

    void putShort(int value) {
        buffer.putShort(position, (short) value);
        position += 2;
    }

    void putLong(long value) {
        buffer.putLong(position, value);
        position += 8;
    }

    void putZeros(int bytes) {
        for (int i = 0; i < bytes; i += 4) {
            putInt(0);
        }
    }

    void putBytes(byte[] bytes) {
        buffer.put(position, bytes);
        position += bytes.length;
    }

    /** Puts {@code fuse_entry_out} for a name that was found. */
    void putEntry(Attributes attributes) {
        putLong(attributes.inode());
        // The kernel gives the root generation 0 when it mounts, and warns of another: an NFS server asks for the
        // folder above one, which may be the root.
        putLong(attributes.inode() == Protocol.ROOT ? 0 : attributes.generation());
        putLong(SnapshotIds.isRoot(attributes.inode()) ? 0 : CACHE_SECONDS);
        putLong(attributeSeconds(attributes.inode()));
        putLong(0);
        putAttributes(attributes);
    }

    /** Puts {@code fuse_entry_out} without a node: the kernel caches that the folder does not have the name. */
    void putNoEntry(long folder) {
        int start = position;
        putZeros(ENTRY_OUT_BYTES);
        buffer.putLong(start + 16, folder == SnapshotIds.FOLDER ? 0 : CACHE_SECONDS);
    }

    private long attributeSeconds(long inode) {
        return inode == SnapshotIds.FOLDER ? 0 : validity.secondsOf(inode);
    }

    /** Puts {@code fuse_attr_out}. */
    void putAttributesAlone(Attributes attributes) {
        putLong(attributeSeconds(attributes.inode()));
        putLong(0);
        putAttributes(attributes);
    }

    private void putAttributes(Attributes attributes) {
        int start = position;
        putLong(attributes.inode());
        putLong(attributes.size());
        putLong(blocks(attributes));
        putLong(Math.floorDiv(attributes.accessedNs(), NANOS));
        putLong(Math.floorDiv(attributes.modifiedNs(), NANOS));
        putLong(Math.floorDiv(attributes.changedNs(), NANOS));
        putInt((int) Math.floorMod(attributes.accessedNs(), NANOS));
        putInt((int) Math.floorMod(attributes.modifiedNs(), NANOS));
        putInt((int) Math.floorMod(attributes.changedNs(), NANOS));
        putInt(attributes.mode());
        putInt(attributes.links());
        putInt(attributes.uid());
        putInt(attributes.gid());
        putInt(attributes.device());
        putInt(PAGE_BYTES);
        putInt(0);
        assert position - start == ATTR_BYTES : position - start;
    }

    /**
     * Returns the blocks of an inode, of a regular file at least 1. The kernel asks for them when a program closes the
     * file, and counts none for what it has not sent yet. GNU tar with {@code --sparse} does not read a file without
     * blocks: the archive of one that a program has just made, and still has open, would have zeros.
     */
    private static long blocks(Attributes attributes) {
        return FileMode.isRegular(attributes.mode()) ? Math.max(1, attributes.blocks()) : attributes.blocks();
    }

    /** Puts {@code fuse_statx_out}: 32 bytes of validity, then {@code fuse_statx}. */
    void putExtendedAttributes(Attributes attributes) {
        int start = position;
        putLong(attributeSeconds(attributes.inode()));
        putZeros(24);
        putInt(Protocol.STATX_FIELDS);
        putInt(PAGE_BYTES);
        putLong(0);
        putInt(attributes.links());
        putInt(attributes.uid());
        putInt(attributes.gid());
        putShort(attributes.mode());
        putShort(0);
        putLong(attributes.inode());
        putLong(attributes.size());
        putLong(blocks(attributes));
        putLong(0);
        putTime(attributes.accessedNs());
        putTime(attributes.createdNs());
        putTime(attributes.changedNs());
        putTime(attributes.modifiedNs());
        putInt(DeviceNumber.nodeMajor(attributes.device()));
        putInt(DeviceNumber.nodeMinor(attributes.device()));
        putZeros(8 + 14 * 8);
        assert position - start == STATX_OUT_BYTES : position - start;
    }

    /** Puts {@code fuse_sx_time}. */
    private void putTime(long ns) {
        putLong(Math.floorDiv(ns, NANOS));
        putInt((int) Math.floorMod(ns, NANOS));
        putInt(0);
    }

    /**
     * Puts {@code fuse_open_out}.
     *
     * @param backing the kernel's number of the backing file; 0 without one
     */
    void putOpened(long handle, int flags, int backing) {
        putLong(handle);
        putInt(flags);
        putInt(backing);
    }

    /** Returns the size of a directory entry in a listing, in bytes, padded to a multiple of eight. */
    static int entryBytes(int nameBytes, boolean withAttributes) {
        return (withAttributes ? ENTRY_OUT_BYTES : 0) + ((DIRENT_BYTES + nameBytes + 7) & ~7);
    }

    /**
     * Puts a directory entry of a listing: {@code fuse_dirent}, or with attributes {@code fuse_direntplus}. The node of
     * the latter is 0 if the kernel gets no reference ({@code .} and {@code ..}).
     */
    void putListed(
            byte[] name, long inode, int type, long cookie, boolean withAttributes, @Nullable Attributes attributes) {
        int start = position;
        if (withAttributes) {
            if (attributes != null) {
                putEntry(attributes);
            } else {
                putZeros(ENTRY_OUT_BYTES);
            }
        }
        putLong(inode);
        putLong(cookie);
        putInt(name.length);
        putInt(type >>> 12);
        putBytes(name);
        while (((position - start) & 7) != 0) {
            buffer.put(position++, (byte) 0);
        }
    }
}
