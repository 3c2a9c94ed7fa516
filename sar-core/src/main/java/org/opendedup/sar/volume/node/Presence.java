package org.opendedup.sar.volume.node;

/** Whether an inode has extended attributes, as far as known. */
enum Presence {
    UNKNOWN,
    NONE,
    SOME
}
