package org.opendedup.sar.volume.names;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.volume.posix.Attributes;

/** Receives the entries of a directory, one per call. */
@FunctionalInterface
public interface EntryVisitor {
    /**
     * Receives an entry.
     *
     * @param name the entry's name, without terminator
     * @param inode number of the inode that the entry refers to
     * @param type file type, as the upper four bits of {@code st_mode} ({@code mode & S_IFMT})
     * @param cookie position after this entry, to continue the listing from; stable for the life of the volume
     * @param attributes attributes of the inode, if the listing requested them and the entry is not {@code .} or
     *     {@code ..}
     * @return false if the entry was not accepted: the listing stops, and the next one starts with this entry
     */
    boolean visit(byte[] name, long inode, int type, long cookie, @Nullable Attributes attributes);
}
