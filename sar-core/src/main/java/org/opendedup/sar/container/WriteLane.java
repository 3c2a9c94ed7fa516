package org.opendedup.sar.container;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A place for one open container after the other; streams lease it. */
final class WriteLane {
    /** No stream has a claim. */
    static final long UNCLAIMED = Long.MIN_VALUE;

    interface Containers {
        OpenContainer create() throws IOException;

        /** Has a full container sealed in the background; waits if too many are waiting already. */
        void seal(OpenContainer full);

        boolean isFull(OpenContainer container);
    }

    private final Containers containers;

    // Guarded by WriteLanes.
    long claim = UNCLAIMED;
    int leases;

    /** Guarded by this. */
    private @Nullable OpenContainer current;

    WriteLane(Containers containers) {
        this.containers = containers;
    }

    /**
     * Appends a chunk. The lock is held throughout: a container must not be sealed under an append.
     *
     * @throws IOException also if the container of the writer's last chunk failed; a writer that has nothing in it gets a
     *     new one
     */
    synchronized long append(
            ContainerWriter writer, byte[] data, int offset, int length, byte[] fingerprints, int fingerprintOffset)
            throws IOException {
        if (writer.lastContainer != null) {
            writer.lastContainer.throwIfFailed();
        }
        OpenContainer container = containerWithRoom();
        writer.lastContainer = container;
        return container.append(data, offset, length, fingerprints, fingerprintOffset);
    }

    private OpenContainer containerWithRoom() throws IOException {
        OpenContainer container = current;
        if (container != null && !container.isFailed()) {
            if (!containers.isFull(container)) {
                return container;
            }
            containers.seal(container);
        }
        current = null;
        OpenContainer created = containers.create();
        current = created;
        return created;
    }

    /** Takes the container away, to be sealed. */
    synchronized @Nullable OpenContainer takeCurrent() {
        OpenContainer container = current;
        current = null;
        return container;
    }
}
