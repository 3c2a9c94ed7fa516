package org.opendedup.sar.remote;

import com.carrotsearch.hppc.LongHashSet;
import java.io.IOException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.objects.ObjectStore;

/** Which names of packs are taken, by this owner of the volume or another one. Safe for use by many threads. */
final class PackNumbers {
    /** Asks whether there is a pack, or was one that is not deleted yet. */
    @FunctionalInterface
    interface Existence {
        boolean exists(String name) throws IOException;
    }

    private final ObjectStore store;
    private final Set<String> staged;
    private final Existence existence;
    /** A pack that was the last one of the volume; null while none is known. Guarded by this. */
    private @Nullable String last;
    /** Numbers of later packs, all of which were made here. Guarded by this. */
    private final LongHashSet later = new LongHashSet();

    /** @param staged the names of the packs in the folder */
    PackNumbers(ObjectStore store, Set<String> staged, Existence existence) {
        this.store = store;
        this.staged = staged;
        this.existence = existence;
    }

    /** Notes a pack that is made here. */
    synchronized void add(String name) {
        later.add(PackFormat.numberOf(name).orElseThrow());
    }

    /**
     * Returns whether there is a pack, or was one. Asks the store until it has said once that a new pack is the last
     * one: from then on later ones are made here only, and can be begun while the store does not answer. Threads that
     * write at the same time do not make theirs in the order of their numbers.
     */
    synchronized boolean isTaken(String name) throws IOException {
        String known = last;
        if (known != null && name.compareTo(known) > 0) {
            return later.contains(PackFormat.numberOf(name).orElseThrow());
        }
        if (existence.exists(name)) {
            return true;
        }
        if (known == null && isLast(name)) {
            last = name;
        }
        return false;
    }

    /** Returns whether no pack has a greater number. */
    private boolean isLast(String name) throws IOException {
        return staged.stream().allMatch(other -> other.compareTo(name) <= 0)
                && store.first(PackNames.PACKS, PackNames.pack(name), PackNames::isPack)
                        .isEmpty()
                && store.first(PackNames.TAILS, PackNames.tails(name), PackNames::isTail)
                        .isEmpty();
    }
}
