package org.opendedup.sar.container;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.SealedContainers.Whole;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameTable;

/**
 * Reads sealed containers whole and verifies everything in them: header, footer and directory, the checksum of each
 * frame, and the SHA-256 of each chunk. The caller reads one container while other threads verify earlier ones. For use
 * by one thread.
 */
public final class Verification {
    /** Containers in memory at once: one that is being read, and two that are being verified. */
    private static final int LOADED = 3;

    private final SealedContainers containers;
    private final FrameDecoder decoder;
    private final ExecutorService workers;
    private final Deque<byte[]> free = new ArrayDeque<>();
    private final Deque<Loaded> underWay = new ArrayDeque<>();

    Verification(SealedContainers containers, FrameDecoder decoder, ExecutorService workers) {
        this.containers = containers;
        this.decoder = decoder;
        this.workers = workers;
        for (int i = 0; i < LOADED; i++) {
            free.add(new byte[0]);
        }
    }

    /**
     * What the verification of a container found.
     *
     * @param stored where it was read
     * @param directory what it says about its chunks
     * @param damagedFrames the frames that are not what was written, and why
     */
    public record Verified(
            long container,
            StoredContainer stored,
            SealedContainer directory,
            SortedMap<Integer, CorruptionException> damagedFrames) {
        /** Returns the first slot of a frame. */
        public int firstSlot(int frame) {
            return directory.frameTable().firstSlot(frame);
        }

        /** Returns the number of slots of a frame. */
        public int slotCount(int frame) {
            return directory.frameTable().slotCount(frame);
        }
    }

    private record Loaded(Whole whole, Future<SortedMap<Integer, CorruptionException>> verifying) {}

    /** Returns whether no container is being verified. */
    public boolean isEmpty() {
        return underWay.isEmpty();
    }

    /** Returns whether {@link #load} can be called before {@link #next}. */
    public boolean hasRoom() {
        return !free.isEmpty();
    }

    /**
     * Reads a container where it lasts, not from a nearer copy or the kernel's cache, with one request; other threads
     * then verify it. The caller keeps its place from being given back during the call.
     *
     * @throws CorruptionException if header, footer or directory are not what was written, or the container is missing
     */
    public void load(long container) throws IOException {
        Whole whole = containers.lastingWhole(container, free.element());
        free.remove();
        underWay.add(new Loaded(whole, workers.submit(() -> damagedFrames(whole))));
    }

    /** Waits for the container that was loaded first, and returns what was found. */
    public Verified next() throws IOException {
        Loaded oldest = underWay.remove();
        Whole whole = oldest.whole;
        try {
            return new Verified(whole.container(), whole.stored(), whole.directory(), oldest.verifying.get());
        } catch (ExecutionException e) {
            throw new IOException("container " + whole.container() + " could not be verified", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a container was verified");
        } finally {
            free.add(whole.bytes());
        }
    }

    private SortedMap<Integer, CorruptionException> damagedFrames(Whole whole) {
        SortedMap<Integer, CorruptionException> damaged = new TreeMap<>();
        FrameTable table = whole.table();
        for (int frame = 0; frame < table.frames(); frame++) {
            if (!table.isRemoved(frame)) {
                FrameDecoder.Expected expected = new FrameDecoder.Expected(whole.container(), whole.at(), frame);
                try {
                    decoder.decode(whole.bytes(), (int) table.fileOffset(frame), expected, true);
                } catch (CorruptionException e) {
                    damaged.put(frame, e);
                }
            }
        }
        return Collections.unmodifiableSortedMap(damaged);
    }
}
