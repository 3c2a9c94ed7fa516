package org.opendedup.sar.metadata.repair;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.record.ContainerCounts;

/** Receives what is right where a check finds something wrong: a repair writes it. By default nothing is done. */
public interface Corrections {
    /** Corrects nothing. */
    Corrections NONE = new Corrections() {};

    /** Lengths of chunks by slot. */
    @FunctionalInterface
    interface Lengths {
        /** Returns the length of a slot's chunk in bytes; 0 if the container has none. */
        int of(int slot);
    }

    /**
     * The counts of a container are wrong.
     *
     * @param found the present ones; null if there are none, or they cannot be decoded
     * @param references number of references by slot; may be longer than {@code slots}
     * @param continuations how many of them do not begin with the chunk's first byte, by slot
     * @param slots number of slots, of which each is counted, referred to, or in the container
     * @param lengths lengths of the container's chunks; null if its directory cannot be read
     */
    default void counts(
            long container,
            @Nullable ContainerCounts found,
            int[] references,
            int[] continuations,
            int slots,
            @Nullable Lengths lengths)
            throws IOException {}

    /** An inode has the wrong number of bytes in chunks. */
    default void dataBytes(long inode, long bytes) throws IOException {}

    /**
     * A file ends before its recipe does.
     *
     * @param size the end of its recipe
     */
    default void size(long inode, long size) throws IOException {}

    /** An inode has the wrong number of links. */
    default void links(long inode, int links) throws IOException {}

    /** A directory names the wrong directory as its parent. */
    default void parent(long inode, long parent) throws IOException {}

    /**
     * A name leads to no inode, or to one of another type.
     *
     * @param hash that of the name
     */
    default void name(long directory, long hash, long inode) throws IOException {}

    /**
     * More names lead to a directory than one, or any to the root.
     *
     * @param holder the directory that has them
     * @param keep how many of those in {@code holder} stay: 0 or 1
     */
    default void extraNames(long holder, long directory, int keep) throws IOException {}

    /** A directory lies in itself by its name in {@code holder}, so the root does not reach it. */
    default void circle(long holder, long directory) throws IOException {}

    /** An inode must have a name and has none: it has links, or it has none and is not waiting to be freed. */
    default void nameless(long inode) throws IOException {}

    /**
     * The record of which recipe pages of an inode are dead cannot be decoded.
     *
     * @param fromPage first page that no file shows; -1 if nothing has to be freed
     */
    default void orphan(long inode, long fromPage) throws IOException {}

    /** There are names in a directory that does not exist. */
    default void namesWithoutDirectory(long directory) throws IOException {}

    /** There is a recipe of an inode that does not exist. */
    default void recipeWithoutInode(long inode) throws IOException {}

    /**
     * A page of a recipe cannot be decoded, so references are missing from all that is counted afterwards. Called
     * before {@link #counts}.
     */
    default void recipeDamaged() {}

    /**
     * Records of the intent log of an inode cannot be used.
     *
     * @param isFile whether the inode is a file, which keeps what can be decoded
     */
    default void intents(long inode, boolean isFile) throws IOException {}

    /** An inode that is no file has a record that says that it lies on the fast tier. */
    default void raw(long inode) throws IOException {}

    /** The record that says where on the fast tier a file lies cannot be decoded. */
    default void rawDamaged(long inode) throws IOException {}

    /**
     * No snapshot has a version, and none is being freed that had it.
     *
     * @param key of the version
     * @param death key of its death
     */
    default void versionOfNoSnapshot(byte[] key, byte[] death) throws IOException {}

    /** Versions that snapshots have, and the list by which they are freed, differ. */
    default void deaths() throws IOException {}

    /** The volume's totals are wrong. */
    default void totals() throws IOException {}
}
