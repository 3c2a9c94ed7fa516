package org.opendedup.sar.restore.bulk;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.Decoding;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Restores many files at once, in the order of the containers. Each container is read once, whole or in ranges,
 * whichever is cheaper by the measured costs of the disk, and its chunks are written to all their places. (In the order
 * of a file, a container is read each time the file returns to it.) Data is decoded and written while the disk
 * continues to read. Readers of mounted files have their turns at the disk between two containers. For use by one
 * thread.
 */
public final class ContainerOrderRestore {
    private static final Logger log = LoggerFactory.getLogger(ContainerOrderRestore.class);

    /** Containers of an object store that are asked for at the same time; their places take some MiB. */
    private static final int AHEAD = 8;

    private final ContainerStore containers;
    private final DiskQueue queue;
    private final boolean verifyFingerprints;

    /**
     * @param queue queue in which this takes a turn for each container
     * @param verifyFingerprints whether every chunk is also hashed, in addition to the frames' checksums
     */
    public ContainerOrderRestore(ContainerStore containers, DiskQueue queue, boolean verifyFingerprints) {
        this.containers = containers;
        this.queue = queue;
        this.verifyFingerprints = verifyFingerprints;
    }

    /** Points at which a restore may stop and continue later. */
    public interface Milestones {
        /** Whether {@link #reached} is to be called; asked ahead of each container. */
        boolean isDue();

        /**
         * Called when all places of chunks of lower containers are written. A container of very many places is written
         * in parts, between which this may be called as well.
         *
         * @param bytes bytes of the places in lower containers, from the one on with which the restore began
         * @throws IOException to end the restore
         */
        void reached(long container, long bytes) throws IOException;
    }

    /**
     * Restores the chunks of a container and all later ones. Data that cannot be read is reported to {@code writer},
     * and the restore continues.
     *
     * @throws IOException the first failure to write, of {@code milestones}, or that says nothing of what is stored
     */
    public void restore(Places places, long fromContainer, PlaceWriter writer, Milestones milestones)
            throws IOException {
        Places.Cursor place = places.from(fromContainer << ChunkId.SLOT_BITS);
        var failure = new AtomicReference<@Nullable IOException>();
        boolean more = place.next();
        Deque<Planned> ahead = new ArrayDeque<>();
        long present = fromContainer;
        long bytes = 0;
        long bytesBelow = 0;
        int mostAhead = containers.answersAtOnce() ? AHEAD : 1;
        try (Decoding decoding = containers.decoding()) {
            while (more || !ahead.isEmpty()) {
                while (more && ahead.size() < mostAhead) {
                    long container = ChunkId.container(place.chunkId());
                    var batch = new PlaceBatch(writer, verifyFingerprints, failure);
                    do {
                        batch.add(place);
                        more = place.next();
                    } while (more && ChunkId.container(place.chunkId()) == container && !batch.isFull());
                    ahead.add(new Planned(container, batch));
                }
                if (containers.answersAtOnce()) {
                    // The tables of these came while those before were read.
                    ahead.stream().limit(AHEAD / 2).forEach(Planned::expect);
                }
                Planned next = ahead.remove();
                if (next.container != present) {
                    present = next.container;
                    bytesBelow = bytes;
                }
                if (milestones.isDue()) {
                    decoding.close();
                    throwIfFailed(failure);
                    milestones.reached(present, bytesBelow);
                }
                bytes += next.bytes;
                read(next, decoding);
                throwIfFailed(failure);
            }
        }
        throwIfFailed(failure);
    }

    /** A container that is read next, or soon. */
    private final class Planned {
        private final long container;
        private final PlaceBatch batch;
        private final long bytes;
        private int @Nullable [] frames;

        Planned(long container, PlaceBatch batch) {
            this.container = container;
            this.batch = batch;
            bytes = batch.bytes();
            containers.expect(container, bytes);
        }

        int[] frames() {
            int[] located = frames == null ? batch.locate(containers) : frames;
            frames = located;
            return located;
        }

        /** Asks for the frames. */
        void expect() {
            if (frames == null && frames().length > 0) {
                int[] located = frames();
                try {
                    LocatedTable at = containers.located(container);
                    containers.expect(at.pack(), at.start(located[0]), at.end(located[located.length - 1]));
                } catch (IOException e) {
                    log.debug("container {} is not read ahead; who reads it gets the error", container, e);
                }
            }
        }
    }

    private void read(Planned planned, Decoding decoding) {
        PlaceBatch batch = planned.batch;
        int[] frames = planned.frames();
        try {
            // So that no reader waits for a turn while this waits for the destination.
            decoding.awaitRoomForContainer();
            readInTurn(planned.container, frames, batch, decoding);
        } catch (IOException e) {
            batch.allDamaged(e);
        }
    }

    private void readInTurn(long container, int[] frames, PlaceBatch batch, Decoding decoding) throws IOException {
        try (DiskQueue.Turn turn = queue.enter(Importance.STEP)) {
            batch.readIn(turn);
            containers.readFrames(
                    container, frames, frames.length, queue.model().gapBytes(), batch, decoding);
        }
    }

    private static void throwIfFailed(AtomicReference<@Nullable IOException> failure) throws IOException {
        IOException first = failure.get();
        if (first != null) {
            throw first;
        }
    }
}
