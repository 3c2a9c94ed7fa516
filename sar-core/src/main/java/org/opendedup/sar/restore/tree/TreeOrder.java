package org.opendedup.sar.restore.tree;

/** An order in which programs go through a folder. They descend into each folder where the order has it. */
public enum TreeOrder {
    /** As the volume lists the folder, files and folders mixed: {@code tar}, {@code find}. */
    LISTED,
    /** By inode number, which is the order of creation, and for small files of storing: {@code cp}. */
    STORED,
    /** By the bytes of the names, all files before the folders: {@code rsync}. */
    NAMED
}
