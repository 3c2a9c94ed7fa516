package org.opendedup.sar.metadata;

/**
 * An inode as the database keeps it.
 *
 * @param id inode number; 1 is the root directory; never reused
 * @param generation tells apart two uses of one number (NFS); always 1, as numbers are not reused
 * @param mode file type and permissions, as in {@code st_mode}
 * @param links number of names; for a directory 2 plus its subdirectories
 * @param device device number of a device node, else 0
 * @param size bytes; of a symbolic link the length of its target
 * @param dataBytes of a regular file: bytes that chunks give by its recipe (also by a tail behind its size that is
 *     still to be removed); the rest of its size is holes and zeros. Else 0, also of a file that is being freed
 * @param parent of a directory: the directory it lies in (the root: itself); else 0
 * @param accessedNs {@code st_atim} in nanoseconds since 1970, negative before it
 * @param modifiedNs {@code st_mtim}, likewise
 * @param changedNs {@code st_ctim}, likewise
 * @param createdNs birth time, likewise
 * @param target of a symbolic link: where it leads, else empty
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

    /** The same as of an empty file, whose recipe is still to be removed. */
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
