package org.opendedup.sar.model;

import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * One file system call, or a few that belong together. Names files by path and handles by slot, so that any op can be
 * executed in any state (and be refused), and a list without some of its ops can still be run.
 */
public sealed interface Op {
    record Create(String path, int mode) implements Op {}

    record MakeFifo(String path) implements Op {}

    record MakeDirectory(String path, int mode) implements Op {}

    record MakeSymbolicLink(String path, String target) implements Op {}

    record Link(String existing, String path) implements Op {}

    /** Makes a file without a name, writes to it and then links it. */
    record LinkUnnamed(String path, int mode, Content content) implements Op {}

    record Unlink(String path) implements Op {}

    record RemoveDirectory(String path) implements Op {}

    record Rename(String from, String to, RenameMode mode) implements Op {}

    record RenameLeavingWhiteout(String from, String to) implements Op {}

    /** Opens a file in a slot, and keeps a reference to it; the previous handle of the slot is closed. */
    record Open(int slot, String path, boolean writable) implements Op {}

    record Close(int slot) implements Op {}

    record ReadHandle(int slot, long offset, int length) implements Op {}

    record WriteHandle(int slot, long offset, Content content) implements Op {}

    record StatHandle(int slot) implements Op {}

    record SyncHandle(int slot, boolean dataOnly) implements Op {}

    record Read(String path, long offset, int length) implements Op {}

    record Write(String path, long offset, Content content) implements Op {}

    record Append(String path, Content content) implements Op {}

    record Truncate(String path, long size) implements Op {}

    /** fallocate without a mode, or with FALLOC_FL_KEEP_SIZE. */
    record Allocate(String path, long offset, long length, boolean keepSize) implements Op {}

    /** fallocate with FALLOC_FL_ZERO_RANGE; with {@code keepSize} the same as FALLOC_FL_PUNCH_HOLE. */
    record Zero(String path, long offset, long length, boolean keepSize) implements Op {}

    record CopyRange(String source, long from, String target, long to, long length) implements Op {}

    record CopyHandle(int source, long from, int target, long to, long length) implements Op {}

    /** Walks over a file's data and holes from an offset on. */
    record SeekHoles(String path, long offset) implements Op {}

    record SyncFile(String path, boolean dataOnly) implements Op {}

    record SyncAll() implements Op {}

    record ChangeMode(String path, int mode) implements Op {}

    record ChangeOwner(String path, int uid, int gid) implements Op {}

    /** Gives a folder a quota without limits: all that lies below it is charged to it. */
    record ChargeFolder(String path) implements Op {}

    record ChangeTimes(String path, long accessedNs, long modifiedNs) implements Op {}

    record SetAttribute(String path, String name, String value, SetMode mode) implements Op {}

    record RemoveAttribute(String path, String name) implements Op {}

    record Stat(String path) implements Op {}

    record ReadLink(String path) implements Op {}

    /** Lists a directory, {@code step} entries at a time. */
    record ListDirectory(String path, int step, boolean withAttributes) implements Op {}

    /** Reads everything: names, attributes, contents. */
    record Verify() implements Op {}

    /** Reads how many inodes users, groups and folders with quotas have. Only right after a remount. */
    record Usage() implements Op {}

    /** Closes every handle, then the file system, and opens it again. */
    record Remount() implements Op {}
}
