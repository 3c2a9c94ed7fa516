package org.opendedup.sar.volume.clone;

/**
 * What a clone made.
 *
 * @param folders number of directories
 * @param files number of regular files; each once, whatever the number of its names
 * @param others number of symbolic links, devices, fifos and sockets
 * @param links number of further names of files with several names in the tree
 * @param bytes total length of the files, with holes
 * @param dataBytes bytes of these that are in chunks, which source and clone share
 */
public record CloneReport(long folders, long files, long others, long links, long bytes, long dataBytes) {
    static final CloneReport NOTHING = new CloneReport(0, 0, 0, 0, 0, 0);

    CloneReport plus(CloneReport more) {
        return new CloneReport(
                folders + more.folders,
                files + more.files,
                others + more.others,
                links + more.links,
                bytes + more.bytes,
                dataBytes + more.dataBytes);
    }

    /** Returns the number of names. */
    public long entries() {
        return folders + files + others + links;
    }
}
