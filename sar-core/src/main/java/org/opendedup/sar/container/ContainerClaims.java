package org.opendedup.sar.container;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;

/**
 * What the volume's metadata say about its containers: which exist, where each lies, and which of its slots are
 * referred to. Bytes of another writing in that place were copied there from elsewhere or date from another time: they
 * are not read, and nothing in them is trusted. All answers are as of the last commit.
 */
public interface ContainerClaims {
    /** Containers that {@link #forEachSealed} visits between two looks at the table. */
    int SOME = 1000;

    /** Returns a container's entry in the container table, or null if there is none. */
    @Nullable
    StoredContainer stored(long container) throws IOException;

    /** Returns the live slots of a container, damaged ones included. */
    BitSet slots(long container) throws IOException;

    /** Visits all entries of the table, in ascending order of their ids. */
    default void forEach(Visitor visitor) throws IOException {
        forEachFrom(0, (container, stored) -> {
            visitor.visit(container, stored);
            return true;
        });
    }

    /**
     * Visits the entries with an id not less than {@code first}, in ascending order, until the visitor returns false.
     */
    void forEachFrom(long first, StoppingVisitor visitor) throws IOException;

    /**
     * Visits the ids of all sealed containers, in ascending order, until the visitor returns false. The visitor may
     * take long: the table is not being read meanwhile.
     */
    default void forEachSealed(SealedVisitor visitor) throws IOException {
        List<Long> some = new ArrayList<>();
        long next = 0;
        do {
            some.clear();
            forEachFrom(next, (container, stored) -> {
                if (stored.state() == StoredContainer.State.SEALED) {
                    some.add(container);
                }
                return some.size() < SOME;
            });
            for (long container : some) {
                if (!visitor.visit(container)) {
                    return;
                }
                next = container + 1;
            }
        } while (some.size() == SOME);
    }

    /** Visits the places of earlier writings of containers that must not be given back. */
    default void forEachFormer(Visitor visitor) throws IOException {}

    /** Visits the entries of containers that are not sealed, without looking at the others. */
    void forEachOpen(Visitor visitor) throws IOException;

    /** Returns the number of entries. */
    long containers();

    /** Returns the bytes of all entries together. */
    long storedBytes();

    /** Receives ids of sealed containers until it returns false. */
    @FunctionalInterface
    interface SealedVisitor {
        boolean visit(long container) throws IOException;
    }

    /** Receives entries of the container table until it returns false. */
    @FunctionalInterface
    interface StoppingVisitor {
        boolean visit(long container, StoredContainer stored) throws IOException;
    }

    /** Receives entries of the container table. */
    @FunctionalInterface
    interface Visitor {
        void visit(long container, StoredContainer stored) throws IOException;
    }
}
