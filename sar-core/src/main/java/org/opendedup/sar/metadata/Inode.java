package org.opendedup.sar.metadata;

/**
 * An inode as the database stores it.
 *
 * @param id inode number; 1 is the root directory; never reused
 * @param generation distinguishes two uses of one number (NFS); always 1, because numbers are not reused
 * @param mode file type and permissions, as in {@code st_mode}
 * @param links number of names; for a directory 2 plus the number of its subdirectories
 * @param device device number of a device node, else 0
 * @param size size in bytes; for a symbolic link the length of its target
 * @param dataBytes for a regular file: bytes that its recipe takes from chunks, including a tail after its size that is
 *     not removed yet; the rest of its size is holes and zeros. Else 0; also 0 for a file that is being freed
 * @param parent for a directory: the inode number of the directory that contains it (for the root: its own); else 0
 * @param accessedNs {@code st_atim} in nanoseconds since 1970; negative for earlier times
 * @param modifiedNs {@code st_mtim}, likewise
 * @param changedNs {@code st_ctim}, likewise
 * @param createdNs birth time, likewise
 * @param target for a symbolic link: its target; else empty
 */
public record Inode(
        long id,
        long generation,
        int mode,
        int links,
        int uid,
        int gid,
        int device,
        long size,
        long dataBytes,
        long parent,
        long accessedNs,
        long modifiedNs,
        long changedNs,
        long createdNs,
        byte[] target) {

    /** Returns this inode as that of an empty file whose recipe must still be removed. */
    public Inode withoutBytes() {
        return new Inode(
                id,
                generation,
                mode,
                links,
                uid,
                gid,
                device,
                0,
                0,
                parent,
                accessedNs,
                modifiedNs,
                changedNs,
                createdNs,
                target);
    }

    /** The inode number of the root directory. */
    public static final long ROOT = 1;
}
