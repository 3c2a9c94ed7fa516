package org.opendedup.sar.metadata.record;

import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * An inode as the database stores it.
 *
 * <p>Its record: a version byte, then varints: generation, mode, links, uid, gid, project, device, size, data bytes,
 * parent, modification time; access, change and birth time as differences from the modification time; the target's
 * length, and the target's bytes. The inode number is the key.
 *
 * @param id inode number; 1 is the root directory; never reused
 * @param generation distinguishes two uses of one number (NFS): another one in each opening of a volume, because a
 *     number is used again in another volume, and after a restore from a backup; 1 for the root directory; at most 2^31
 *     - 1
 * @param mode file type and permissions, as in {@code st_mode}
 * @param links number of names; for a directory 2 plus the number of its subdirectories
 * @param project number of the project that it is charged to, see {@link QuotaId}; 0 if there is none
 * @param device device number of a device node, else 0
 * @param size size in bytes; for a symbolic link the length of its target
 * @param dataBytes for a regular file: bytes that its recipe takes from chunks, including a tail after its size that is
 *     not removed yet; the rest of its size is holes and zeros. Else 0; also 0 for a file that is being freed
 * @param parent for a directory: the inode number of the directory that contains it (for the root: its own); else 0
 * @param times its four times
 * @param target for a symbolic link: its target; else empty
 */
public record Inode(
        long id,
        long generation,
        int mode,
        int links,
        int uid,
        int gid,
        int project,
        int device,
        long size,
        long dataBytes,
        long parent,
        Times times,
        byte[] target) {
    static final int VERSION = 2;
    private static final int USUAL_BYTES = 64;

    /** The inode number of the root directory. */
    public static final long ROOT = 1;

    private static final byte[] NO_TARGET = {};

    /**
     * The times of an inode, in nanoseconds since 1970; negative for earlier times.
     *
     * @param accessedNs {@code st_atim}
     * @param modifiedNs {@code st_mtim}
     * @param changedNs {@code st_ctim}
     * @param createdNs birth time
     */
    public record Times(long accessedNs, long modifiedNs, long changedNs, long createdNs) {
        /** Returns the times of an inode that was created at {@code ns}. */
        public static Times ofCreation(long ns) {
            return new Times(ns, ns, ns, ns);
        }
    }

    /** Returns an inode with one name and no bytes, which belongs to root. */
    public static Inode of(long id, int mode, Times times) {
        return new Inode(id, 1, mode, 1, 0, 0, 0, 0, 0, 0, 0, times, NO_TARGET);
    }

    /** Returns the file type, as in {@code mode & S_IFMT}; see {@link Modes}. */
    public int type() {
        return mode & Modes.TYPE;
    }

    public boolean isDirectory() {
        return type() == Modes.DIRECTORY;
    }

    /** Returns whether it is a regular file. */
    public boolean isFile() {
        return type() == Modes.REGULAR;
    }

    public Inode withMode(int newMode) {
        return new Inode(
                id, generation, newMode, links, uid, gid, project, device, size, dataBytes, parent, times, target);
    }

    public Inode withGeneration(long newGeneration) {
        return new Inode(
                id, newGeneration, mode, links, uid, gid, project, device, size, dataBytes, parent, times, target);
    }

    public Inode withLinks(int newLinks) {
        return new Inode(
                id, generation, mode, newLinks, uid, gid, project, device, size, dataBytes, parent, times, target);
    }

    public Inode withOwner(int newUid, int newGid) {
        return new Inode(
                id, generation, mode, links, newUid, newGid, project, device, size, dataBytes, parent, times, target);
    }

    public Inode withProject(int newProject) {
        return new Inode(
                id, generation, mode, links, uid, gid, newProject, device, size, dataBytes, parent, times, target);
    }

    public Inode withDevice(int newDevice) {
        return new Inode(
                id, generation, mode, links, uid, gid, project, newDevice, size, dataBytes, parent, times, target);
    }

    public Inode withBytes(long newSize, long newDataBytes) {
        return new Inode(
                id, generation, mode, links, uid, gid, project, device, newSize, newDataBytes, parent, times, target);
    }

    public Inode withParent(long newParent) {
        return new Inode(
                id, generation, mode, links, uid, gid, project, device, size, dataBytes, newParent, times, target);
    }

    public Inode withTimes(Times newTimes) {
        return new Inode(
                id, generation, mode, links, uid, gid, project, device, size, dataBytes, parent, newTimes, target);
    }

    /** Returns this inode with a symbolic link's target, whose length becomes the size. */
    public Inode withTarget(byte[] newTarget) {
        int length = newTarget.length;
        return new Inode(id, generation, mode, links, uid, gid, project, device, length, 0, parent, times, newTarget);
    }

    /** Returns an inode of a snapshot with the numbers that it and its parent have outside of snapshots. */
    public Inode outsideOfSnapshot() {
        return new Inode(
                SnapshotIds.inode(id),
                generation,
                mode,
                links,
                uid,
                gid,
                project,
                device,
                size,
                dataBytes,
                SnapshotIds.inode(parent),
                times,
                target);
    }

    /** Returns this inode as that of an empty file whose recipe must still be removed. */
    public Inode withoutBytes() {
        return withBytes(0, 0);
    }

    public static byte[] encode(Inode inode) {
        Inode.Times times = inode.times();
        return new ValueWriter(USUAL_BYTES)
                .writeByte(VERSION)
                .writeVarint(inode.generation())
                .writeVarint(Integer.toUnsignedLong(inode.mode()))
                .writeVarint(Integer.toUnsignedLong(inode.links()))
                .writeVarint(Integer.toUnsignedLong(inode.uid()))
                .writeVarint(Integer.toUnsignedLong(inode.gid()))
                .writeVarint(Integer.toUnsignedLong(inode.project()))
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

    /** Returns the parent of an inode, in the same snapshot if it is in one. */
    private static long parentBeside(long id, long parent) {
        return SnapshotIds.isInSnapshot(id) && SnapshotIds.inode(id) == ROOT
                ? SnapshotIds.FOLDER
                : SnapshotIds.beside(id, parent);
    }

    /** @param id the inode's number; in a snapshot as {@link SnapshotIds} says, and then its parent has one, too */
    public static Inode decode(long id, byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(Births.body(value), "inode", id).expectVersion(VERSION);
        long generation = in.readVarint();
        int mode = in.readInt();
        int links = in.readInt();
        int uid = in.readInt();
        int gid = in.readInt();
        int project = in.readInt();
        int device = in.readInt();
        long size = in.readVarint(Long.MAX_VALUE);
        long dataBytes = in.readVarint(Long.MAX_VALUE);
        long parent = parentBeside(id, in.readVarint(Long.MAX_VALUE));
        long modified = in.readZigzag();
        long accessed = modified + in.readZigzag();
        long changed = modified + in.readZigzag();
        long created = modified + in.readZigzag();
        byte[] target = in.readBytes((int) in.readVarint(in.remaining()));
        in.expectEnd();
        Inode.Times times = new Inode.Times(accessed, modified, changed, created);
        return new Inode(
                id, generation, mode, links, uid, gid, project, device, size, dataBytes, parent, times, target);
    }
}
