package org.opendedup.sar.container;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Holds one open container at a time and replaces it when it is full or failed. Writers lease lanes. */
final class WriteLane {
    /** Value of {@link #claim} if no stream has a claim. */
    static final long UNCLAIMED = Long.MIN_VALUE;

    interface Containers {
        OpenContainer create() throws IOException;

        /** Submits a full container for sealing in the background; waits if too many containers are queued. */
        void seal(OpenContainer full);

        boolean isFull(OpenContainer container);
    }

    private final Containers containers;

    // Both fields are guarded by WriteLanes.
    long claim = UNCLAIMED;
    int leases;

    /** The container that chunks are appended to, or null. Guarded by this. */
    private @Nullable OpenContainer current;

    WriteLane(Containers containers) {
        this.containers = containers;
    }

    /** One writer's use of this lane. */
    final class Lease {
        /** The container of the writer's last chunk, or null. Guarded by the lane. */
        private @Nullable OpenContainer last;

        /**
         * Appends a chunk. Holds the lane's lock throughout: a container must not be sealed during an append.
         *
         * @throws IOException if the append fails, or if the container of the writer's last chunk failed; a writer
         *     without chunks in the failed container gets a new one
         */
        long append(byte[] data, int offset, int length, byte[] fingerprints, int fingerprintOffset)
                throws IOException {
            synchronized (WriteLane.this) {
                if (last != null) {
                    last.throwIfFailed();
                }
                OpenContainer container = containerWithRoom();
                last = container;
                return container.append(data, offset, length, fingerprints, fingerprintOffset);
            }
        }

        WriteLane lane() {
            return WriteLane.this;
        }
    }

    /** Returns the container to append to. The caller holds this lane's lock. */
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

    /** Removes a failed container from the lane, so that nothing is appended to it after it is rewritten. */
    synchronized void dropFailed() {
        if (current != null && current.isFailed()) {
            current = null;
        }
    }

    /** Removes the container from the lane, to be sealed; returns it, or null if there is none. */
    synchronized @Nullable OpenContainer takeCurrent() {
        OpenContainer container = current;
        current = null;
        return container;
    }
}
