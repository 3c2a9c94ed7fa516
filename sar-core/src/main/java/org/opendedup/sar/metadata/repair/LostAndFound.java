package org.opendedup.sar.metadata.repair;

import static java.nio.charset.StandardCharsets.US_ASCII;

import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.NameHash;

/**
 * What a repair and a salvage make for inodes that no name leads to, and for records that are lost: names in a folder
 * of the root, and inodes that belong to root and that only root can open.
 */
final class LostAndFound {
    private static final String FOLDER = "lost+found";

    private LostAndFound() {}

    /**
     * Returns the name of the folder.
     *
     * @param number 0; or how many of these names are taken by something that is no folder
     */
    static String folderName(int number) {
        return FOLDER + (number == 0 ? "" : "-" + number);
    }

    /** Returns the name of an inode in the folder. */
    static String nameOf(long inode) {
        return "#" + inode;
    }

    /** Returns the key of a name that has these characters, all of which are ASCII. */
    static byte[] entryKey(NameHash hash, long directory, String name) {
        byte[] bytes = name.getBytes(US_ASCII);
        return Keys.of(directory, hash.of(directory, bytes), bytes);
    }

    /**
     * Returns the inode of an empty directory.
     *
     * @param nowNs its times, in nanoseconds since 1970
     */
    static Inode directory(long id, long parent, long nowNs) {
        return Inode.of(id, Modes.DIRECTORY | 0700, Inode.Times.ofCreation(nowNs))
                .withLinks(2)
                .withParent(parent);
    }

    /**
     * Returns the inode of an empty file with one name.
     *
     * @param type file type, as in {@code mode & S_IFMT}
     * @param nowNs its times, in nanoseconds since 1970
     */
    static Inode file(long id, int type, long nowNs) {
        return Inode.of(id, type | 0600, Inode.Times.ofCreation(nowNs));
    }
}
