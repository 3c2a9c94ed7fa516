package org.opendedup.sar.container;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Holds one open container at a time and replaces it when it is full or failed. Writers lease lanes. */
final class WriteLane {
    /** Value of {@link #claim} if no stream has a claim. */
    static final long UNCLAIMED = Long.MIN_VALUE;

    interface Containers {
        /**
         * Creates a container.
         *
         * @param pack the pack of the container before it, or null
         * @param trial the lane's
         */
        OpenContainer create(@Nullable Pack pack, CompressionTrial trial) throws IOException;

        boolean isFull(OpenContainer container);

        /** Returns whether a pack should get further containers where it is. */
        boolean takesMore(Pack pack);
    }

    private final Containers containers;
    /** Longer than a container: a film has hundreds of them. */
    private final CompressionTrial trial = new CompressionTrial();

    // Both fields are guarded by WriteLanes.
    long claim = UNCLAIMED;
    int leases;

    /** The container that chunks are appended to, or null. Guarded by this. */
    private @Nullable OpenContainer current;
    /** The pack of the last container, or null. Guarded by this. */
    private @Nullable Pack pack;

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
                    last.frames().throwIfFailed();
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
        if (container != null && !container.frames().isFailed()) {
            if (!containers.isFull(container)) {
                return container;
            }
            container.end();
        }
        current = null;
        OpenContainer created = containers.create(pack, trial);
        current = created;
        pack = created.pack();
        return created;
    }

    /** Removes a failed container from the lane, so that nothing is appended to it after it is rewritten. */
    synchronized void dropFailed() {
        if (current != null && current.frames().isFailed()) {
            current = null;
        }
    }

    /**
     * Ends the container of the lane, so that it is sealed; the next append gets a new one. Also ends its pack, if that
     * is to get no further containers where it is.
     */
    synchronized void end() {
        OpenContainer container = current;
        current = null;
        if (container != null) {
            container.end();
        }
        Pack present = pack;
        if (present != null && !containers.takesMore(present)) {
            pack = null;
            present.retire();
        }
    }
}
