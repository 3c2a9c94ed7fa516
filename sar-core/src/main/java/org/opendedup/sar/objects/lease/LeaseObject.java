package org.opendedup.sar.objects.lease;

import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ReplaceableObjects;
import org.opendedup.sar.objects.VersionChangedException;

/** The object that is the lease of a store, for who reads or breaks it. Safe for use by many threads. */
public final class LeaseObject {
    /** Name of the object. */
    public static final String NAME = "lease";

    /** What to do about a lease that cannot be read. */
    public static final String REMEDY =
            "make sure that no machine uses the volume, then delete the object '" + NAME + "' in the store";

    /** Renewals that may come between reading and breaking. */
    private static final int MOST_RACES = 20;

    private final String store;
    private final ReplaceableObjects objects;

    /**
     * @param address of the store, as commands take it; for messages
     * @param store asked once for each call: who renews a lease must know soon that there is no answer
     * @throws IOException if the store cannot replace objects under a condition
     */
    public LeaseObject(String address, ObjectStore store) throws IOException {
        this(
                address,
                store.replaceable()
                        .orElseThrow(() -> new IOException(store + " does not replace objects under a condition, so"
                                + " nothing there keeps two machines from using a volume at the same time")));
    }

    LeaseObject(String store, ReplaceableObjects objects) {
        this.store = store;
        this.objects = objects;
    }

    /** A lease as it was read. */
    record Read(LeaseRecord lease, String version) {}

    /** Returns the lease; null if nobody ever had it. */
    @Nullable
    Read read() throws IOException {
        Optional<ReplaceableObjects.Version> found = objects.current(NAME);
        return found.isEmpty()
                ? null
                : new Read(
                        LeaseRecord.decode(found.get().contents(), store + "/" + NAME),
                        found.get().version());
    }

    /**
     * Puts a lease in the place of another.
     *
     * @param expected version of the other; null: there is none
     * @return its version
     */
    String replace(@Nullable String expected, LeaseRecord lease) throws IOException {
        return objects.replace(NAME, expected, UUID.randomUUID(), lease.encode());
    }

    /** Returns the lease as it is now; empty if nobody ever had it. */
    public Optional<LeaseRecord> current() throws IOException {
        Read read = read();
        return read == null ? Optional.empty() : Optional.of(read.lease());
    }

    /**
     * Takes the lease away from its owner, who finds that out when it renews it. Until then, {@link LeaseTerms#serves}
     * at most, it may still answer reads of an old state. It changes nothing from the moment on at which another owner
     * opens the volume.
     *
     * @param owner whose lease is meant
     * @return the lease that was broken; empty if that owner does not have it any more
     */
    public Optional<LeaseRecord> breakNow(UUID owner) throws IOException {
        for (int tries = 1; ; tries++) {
            Read read = read();
            if (read == null || !read.lease().isHeldBy(owner)) {
                return Optional.empty();
            }
            try {
                var unused = replace(read.version(), read.lease().in(LeaseRecord.State.BROKEN));
                return Optional.of(read.lease());
            } catch (VersionChangedException e) {
                if (tries == MOST_RACES) {
                    throw e;
                }
            }
        }
    }

    @Override
    public String toString() {
        return store;
    }
}
