package org.opendedup.sar.container;

import java.io.IOException;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;

/**
 * What the volume's metadata say about its containers: which exist, where each lies, and which of its slots are
 * referred to. Bytes of another writing in that place were copied there from elsewhere or date from another time: they
 * are not read, and nothing in them is trusted. All answers are as of the last commit.
 */
public interface ContainerClaims {
    /** Returns a container's entry in the container table, or null if there is none. */
    @Nullable
    StoredContainer stored(long container) throws IOException;

    /** Returns the live slots of a container, damaged ones included. */
    BitSet slots(long container) throws IOException;

    /** Visits all entries of the table, in ascending order of their ids. */
    void forEach(Visitor visitor) throws IOException;

    /** Visits the places of earlier writings of containers that must not be given back. */
    default void forEachFormer(Visitor visitor) throws IOException {}

    /** Visits the entries of containers that are not sealed, without looking at the others. */
    void forEachOpen(Visitor visitor) throws IOException;

    /** Returns the number of entries. */
    long containers();

    /** Returns the bytes of all entries together. */
    long storedBytes();

    /** Receives entries of the container table. */
    @FunctionalInterface
    interface Visitor {
        void visit(long container, StoredContainer stored) throws IOException;
    }
}
