package org.opendedup.sar.restore;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.restore.frame.FrameLoader;
import org.opendedup.sar.restore.frame.FrameSink;
import org.opendedup.sar.restore.frame.FrameTurn;
import org.opendedup.sar.restore.frame.HotSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads ahead for a client that names chunks one by one and no file: in the order in which they were written. A
 * container has the new chunks of one stream in their order, and the next container of its pack those after them. Reads
 * of neighbouring slots are taken for a reader of that stream, and the frames after them are read in large requests. A
 * reader that jumps, because it comes to a duplicate that lies elsewhere, leaves its place there: it is found again
 * when it comes back. Single reads read nothing ahead. A frame of which the SSD has all chunks that are referred to is
 * left out: the SSD serves them without a seek. Safe for use by many threads.
 */
public final class WriteOrderReads {
    private static final Logger log = LoggerFactory.getLogger(WriteOrderReads.class);

    /** Places where a reader was last. */
    private static final int MAX_PLACES = 64;

    /**
     * Distance in slots up to which a read continues an earlier one: several threads of a reader overtake each other.
     */
    private static final int NEAR_SLOTS = 16;

    /** Reads that continue each other before anything is read ahead. */
    private static final int LEAST_READS = 4;

    /** Bytes that they must have by then. For any read, SDFS reads a page of 256 KiB: that alone is a single read. */
    private static final long LEAST_BYTES = 384 << 10;

    /** Bytes read ahead at first, and at most; doubled as the reader goes on. */
    private static final long FIRST_BYTES = 512 << 10;

    private static final long MOST_BYTES = 16 << 20;

    /** Steps that wait or run; further ones are left out, and the reader reads itself. */
    private static final int MAX_STEPS = 16;

    private final ContainerStore containers;
    private final FrameLoader loader;
    private final Executor prefetchers;
    private final NextContainer next;
    private final long mostBytes;
    private final @Nullable HotSource hot;
    /** The place of the last read comes first. Guarded by this. */
    private final Deque<Place> places = new ArrayDeque<>();

    private final AtomicInteger steps = new AtomicInteger();
    private final LongAdder framesAhead = new LongAdder();

    /** Knows the order of containers. */
    @FunctionalInterface
    public interface NextContainer {
        /** Returns the container that the stream of another one continued in; 0 if that is not known. */
        long after(long container) throws IOException;
    }

    /** Where a reader is. Guarded by the table of places. */
    private static final class Place {
        long container;
        int slot;
        int reads = 1;
        /** Bytes that were read. */
        long bytes;
        /** The first frame that was not asked for: a container and a number in it; 0 if it is not known. */
        long aheadContainer;

        int aheadFrame;
        /** Bytes that are read ahead at a time. */
        long window = FIRST_BYTES;
        /** Bytes that were asked for and that the reader has not reached. */
        long ahead;
        /** Whether a step of this reader is being chosen. */
        boolean isChoosing;
        /** The container after this one; 0 if that is not known yet. */
        long following;
    }

    /** Where the next step of a reader begins, and how much is ahead of the reader after it. */
    private record Position(long container, int slot, long aheadContainer, int aheadFrame, long ahead, long window) {}

    /**
     * @param cacheBytes bytes of the cache of frames: at most a quarter of it is read ahead for one reader
     * @param hot the SSD with copies of chunks; null if there is none
     */
    WriteOrderReads(
            ContainerStore containers,
            FrameLoader loader,
            Executor prefetchers,
            NextContainer next,
            long cacheBytes,
            @Nullable HotSource hot) {
        this.hot = hot;
        this.containers = containers;
        this.loader = loader;
        this.prefetchers = prefetchers;
        this.next = next;
        mostBytes = Math.min(MOST_BYTES, cacheBytes / 4);
    }

    /** Number of frames that were asked for ahead of readers. */
    public long framesAhead() {
        return framesAhead.sum();
    }

    /** Notes that a chunk is read; reads ahead if it continues earlier reads. Does not wait for containers. */
    public void noteRead(long chunk, int length) {
        Place place;
        Position from;
        synchronized (this) {
            place = placeOf(ChunkId.container(chunk), ChunkId.slot(chunk));
            place.bytes += length;
            place.ahead = Math.max(0, place.ahead - length);
            if (place.reads < LEAST_READS
                    || place.bytes < LEAST_BYTES
                    || place.isChoosing
                    || place.ahead > place.window / 2
                    || steps.get() >= MAX_STEPS) {
                return;
            }
            place.isChoosing = true;
            from = new Position(
                    place.container, place.slot, place.aheadContainer, place.aheadFrame, place.ahead, place.window);
        }
        submit(() -> step(place, from), () -> endChoice(place));
    }

    private void step(Place place, Position from) throws IOException {
        List<Long> chosen = new ArrayList<>();
        Position to = choose(from, chosen);
        synchronized (this) {
            place.aheadContainer = to.aheadContainer;
            place.aheadFrame = to.aheadFrame;
            place.ahead += Math.max(0, to.ahead - from.ahead);
            place.window = Math.min(mostBytes, 2 * place.window);
            place.isChoosing = false;
        }
        fetch(missing(chosen));
    }

    private synchronized void endChoice(Place place) {
        place.isChoosing = false;
    }

    /** Reads the frame of a chunk that the client says it will read, while the caller goes on. */
    public void expect(long chunk) {
        if (steps.get() < MAX_STEPS && (hot == null || !hot.distributor().isOnSsd(chunk))) {
            submit(
                    () -> {
                        int frame = containers.frameOf(chunk);
                        fetch(missing(List.of(FrameId.inContainerOf(chunk, frame))));
                    },
                    () -> {});
        }
    }

    private Place placeOf(long container, int slot) {
        for (Iterator<Place> all = places.iterator(); all.hasNext(); ) {
            Place place = all.next();
            boolean continues = place.container == container && Math.abs(slot - place.slot) <= NEAR_SLOTS;
            boolean isNext = !continues && slot <= NEAR_SLOTS && isNext(place, container);
            if (continues || isNext) {
                place.reads++;
                place.slot = isNext ? slot : Math.max(slot, place.slot);
                if (place.container != container) {
                    place.container = container;
                    place.following = 0;
                }
                all.remove();
                places.addFirst(place);
                return place;
            }
        }
        Place place = new Place();
        place.container = container;
        place.slot = slot;
        places.addFirst(place);
        if (places.size() > MAX_PLACES) {
            places.removeLast();
        }
        return place;
    }

    private boolean isNext(Place place, long container) {
        try {
            if (place.following == 0 && place.reads >= LEAST_READS) {
                place.following = next.after(place.container);
            }
            return place.following == container;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Chooses the frames of the next step of a reader, in their order. Reads frame tables.
     *
     * @param chosen receives the frames, as {@link FrameId}s
     * @return where the step after it begins
     */
    private Position choose(Position from, List<Long> chosen) throws IOException {
        long container = from.aheadContainer;
        int frame = from.aheadFrame;
        long ahead = from.ahead;
        int reached = containers.frameTable(from.container).frameOf(from.slot);
        if (container == 0 || container == from.container && frame <= reached) {
            // The first step, or the reader was faster than the last one.
            container = from.container;
            frame = reached + 1;
        }
        while (ahead < from.window) {
            FrameTable table = containers.frameTable(container);
            for (; frame < table.frames() && ahead < from.window; frame++) {
                if (!table.isRemoved(frame)) {
                    ahead += table.rawLength(frame);
                    if (!isOnSsd(container, table, frame)) {
                        chosen.add(FrameId.of(container, frame));
                    }
                }
            }
            if (frame == table.frames()) {
                long after = containers.isSealed(container) ? next.after(container) : 0;
                if (after == 0) {
                    break;
                }
                container = after;
                frame = 0;
            }
        }
        return new Position(from.container, from.slot, container, frame, ahead, from.window);
    }

    /** Returns whether the SSD has a copy of each chunk of a frame that has references, and of one at least. */
    private boolean isOnSsd(long container, FrameTable table, int frame) throws IOException {
        if (hot == null || !hot.distributor().isActive()) {
            return false;
        }
        boolean hasCopy = false;
        int end = table.firstSlot(frame) + table.slotCount(frame);
        for (int slot = table.firstSlot(frame); slot < end; slot++) {
            long chunk = ChunkId.of(container, slot);
            if (hot.distributor().isOnSsd(chunk)) {
                hasCopy = true;
            } else if (hot.counts().count(chunk) > 0) {
                return false;
            }
        }
        return hasCopy;
    }

    /** A step of reading ahead. */
    private interface Step {
        void run() throws IOException;
    }

    /** @param failed runs if the step fails or is not run */
    private void submit(Step step, Runnable failed) {
        steps.incrementAndGet();
        try {
            prefetchers.execute(() -> {
                try {
                    step.run();
                } catch (IOException | RuntimeException e) {
                    log.debug("a step of reading ahead failed; a reader that needs its chunks gets the error", e);
                    failed.run();
                } finally {
                    steps.decrementAndGet();
                }
            });
        } catch (RejectedExecutionException closing) {
            steps.decrementAndGet();
            failed.run();
        }
    }

    private long[] missing(List<Long> frames) {
        return frames.stream()
                .mapToLong(Long::longValue)
                .filter(frame -> loader.cached(FrameId.container(frame), FrameId.number(frame)) == null)
                .sorted()
                .toArray();
    }

    private void fetch(long[] frames) {
        if (frames.length == 0) {
            return;
        }
        framesAhead.add(frames.length);
        try (FrameTurn turn = loader.next(Importance.STEP, 0, FrameSink.NONE)) {
            turn.claim(frames);
            turn.begin();
            turn.read();
        }
    }
}
