package org.opendedup.sar.volume;

/** Whether an inode has extended attributes, as far as known. */
enum Presence {
    UNKNOWN,
    NONE,
    SOME
}
