package org.opendedup.sar.scrub;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.record.ContainerCounts;

/** Reads directories of containers, with which other parts of a volume are compared. For use by one thread. */
final class Directories {
    private final Scrubber.Parts parts;

    Directories(Scrubber.Parts parts) {
        this.parts = parts;
    }

    ContainerCounts counts(long container) throws IOException {
        return parts.metadata().counts().ofContainer(container);
    }

    /**
     * Reads the directory of a container; null if the container is not sealed, or its directory cannot be read: the
     * verification of the containers reports that.
     *
     * @param counts those of the container
     */
    @Nullable
    SealedContainer get(long container, ContainerCounts counts) throws IOException {
        if (counts.slots() == 0 || !parts.containers().isSealed(container)) {
            return null;
        }
        try (GracePeriod.Use use = parts.uses().begin();
                DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
            return parts.containers().directory(container);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            return null;
        }
    }

    /**
     * Returns whether a container has a chunk in a slot, with another fingerprint than the one at
     * {@code fingerprints[at]}.
     */
    static boolean isOther(SealedContainer directory, int slot, byte[] fingerprints, int at) {
        return slot < directory.slots()
                && directory.listedLength(slot) > 0
                && !isSame(directory.fingerprints(), slot * Fingerprints.BYTES, fingerprints, at);
    }

    /** Returns whether a fingerprint leads to a chunk at present. */
    static boolean leadsTo(ChunkIndex index, byte[] fingerprint, long chunk) throws PartUnusable {
        Segment segment = new Segment(0);
        segment.add(0, 1, false);
        System.arraycopy(fingerprint, 0, segment.fingerprints(), 0, Fingerprints.BYTES);
        PartUnusable.use(() -> index.lookup(segment));
        return segment.hint(0) == chunk;
    }

    static boolean isSame(byte[] fingerprints, int at, byte[] others, int otherAt) {
        return Arrays.equals(fingerprints, at, at + Fingerprints.BYTES, others, otherAt, otherAt + Fingerprints.BYTES);
    }
}
