package org.opendedup.sar.volume;

import org.jspecify.annotations.Nullable;

/** Takes a directory's entries one by one. */
@FunctionalInterface
public interface EntryVisitor {
    /**
     * @param name the entry's name, without terminator
     * @param inode where it leads
     * @param type file type, as the upper four bits of {@code st_mode} ({@code mode & S_IFMT})
     * @param cookie continues the listing behind this entry; stable as long as the volume lives
     * @param attributes of the inode, if the listing asked for them and it is not {@code .} or {@code ..}
     * @return false if the entry was not taken: the listing stops, and the entry will be the first of the next one
     */
    boolean visit(byte[] name, long inode, int type, long cookie, @Nullable Attributes attributes);
}
