package org.opendedup.sar.metadata.record;

import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * The format of an inode's record: a version byte, then varints: generation, mode, links, uid, gid, device, size, data
 * bytes, parent, modification time; access, change and birth time as differences from the modification time; the
 * target's length, and the target's bytes. The inode number is the key.
 */
public final class InodeFormat {
    static final int VERSION = 1;
    private static final int USUAL_BYTES = 64;

    private InodeFormat() {}

    public static byte[] encode(Inode inode) {
        Inode.Times times = inode.times();
        return new ValueWriter(USUAL_BYTES)
                .writeByte(VERSION)
                .writeVarint(inode.generation())
                .writeVarint(Integer.toUnsignedLong(inode.mode()))
                .writeVarint(Integer.toUnsignedLong(inode.links()))
                .writeVarint(Integer.toUnsignedLong(inode.uid()))
                .writeVarint(Integer.toUnsignedLong(inode.gid()))
                .writeVarint(Integer.toUnsignedLong(inode.device()))
                .writeVarint(inode.size())
                .writeVarint(inode.dataBytes())
                .writeVarint(inode.parent())
                .writeZigzag(times.modifiedNs())
                .writeZigzag(times.accessedNs() - times.modifiedNs())
                .writeZigzag(times.changedNs() - times.modifiedNs())
                .writeZigzag(times.createdNs() - times.modifiedNs())
                .writeVarint(inode.target().length)
                .writeBytes(inode.target())
                .toBytes();
    }

    public static Inode decode(long id, byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(value, "inode", id).expectVersion(VERSION);
        long generation = in.readVarint();
        int mode = in.readInt();
        int links = in.readInt();
        int uid = in.readInt();
        int gid = in.readInt();
        int device = in.readInt();
        long size = in.readVarint(Long.MAX_VALUE);
        long dataBytes = in.readVarint(Long.MAX_VALUE);
        long parent = in.readVarint(Long.MAX_VALUE);
        long modified = in.readZigzag();
        long accessed = modified + in.readZigzag();
        long changed = modified + in.readZigzag();
        long created = modified + in.readZigzag();
        byte[] target = in.readBytes((int) in.readVarint(in.remaining()));
        in.expectEnd();
        Inode.Times times = new Inode.Times(accessed, modified, changed, created);
        return new Inode(id, generation, mode, links, uid, gid, device, size, dataBytes, parent, times, target);
    }
}
