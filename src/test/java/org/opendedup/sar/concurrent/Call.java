package org.opendedup.sar.concurrent;

import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/** One call of a file system, by inode numbers. The caller holds a reference to each inode that it names. */
sealed interface Call {
    record Lookup(long directory, String name) implements Call {}

    record Stat(long inode) implements Call {}

    /** The length of a file alone. */
    record Length(long inode) implements Call {}

    record ReadLink(long inode) implements Call {}

    /** Whether a listing shows a name; a listing is divided into one such call for each name. */
    record Listed(long directory, String name) implements Call {}

    record Read(long inode, long offset, int length) implements Call {}

    record SyncFile(long inode) implements Call {}

    record SyncAll() implements Call {}

    record GetAttribute(long inode, String name) implements Call {}

    record Write(long inode, long offset, String text) implements Call {}

    record Truncate(long inode, long size) implements Call {}

    /** Zeroes a range, and leaves the length as it is. */
    record Zero(long inode, long offset, long length) implements Call {}

    record ChangeMode(long inode, int mode) implements Call {}

    record ChangeOwner(long inode, int uid) implements Call {}

    record SetAttribute(long inode, String name, String value, SetMode mode) implements Call {}

    record RemoveAttribute(long inode, String name) implements Call {}

    record Make(long directory, String name) implements Call {}

    record MakeDirectory(long directory, String name) implements Call {}

    record MakeSymbolicLink(long directory, String name, String target) implements Call {}

    record Link(long inode, long directory, String name) implements Call {}

    record Unlink(long directory, String name) implements Call {}

    record RemoveDirectory(long directory, String name) implements Call {}

    record Rename(long directory, String name, long newDirectory, String newName, RenameMode mode) implements Call {}

    /** Whether it changes nothing, whatever its result. */
    default boolean isQuestion() {
        return this instanceof Lookup
                || this instanceof Stat
                || this instanceof Length
                || this instanceof ReadLink
                || this instanceof Listed
                || this instanceof Read
                || this instanceof SyncFile
                || this instanceof SyncAll
                || this instanceof GetAttribute;
    }
}
