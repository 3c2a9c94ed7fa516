package org.opendedup.sar.restore.bulk;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.io.NoAnswer;

/**
 * Places of one container's chunks, by slot. Receives the container's frames, and writes their chunks to all their
 * places. Filled by one thread, then used by several. A struct of arrays.
 */
final class PlaceBatch implements FrameConsumer {
    /** Most places of a batch: 1.5 MiB. A container of 512 chunks has some thousand places, rarely more. */
    static final int MAX_PLACES = 1 << 15;

    private final PlaceWriter writer;
    private final boolean verifyFingerprints;
    /** The first failure to write, or to ask for what is stored, of any batch. */
    private final AtomicReference<@Nullable IOException> failure;

    /** The turn at the disk in which the frames are read; null before. */
    private DiskQueue.@Nullable Turn turn;

    private int count;
    private long[] chunkIds = new long[256];
    private long[] files = new long[256];
    private long[] offsets = new long[256];
    private int[] chunkOffsets = new int[256];
    private int[] lengths = new int[256];
    private int[] fingerprintPrefixes = new int[256];
    /** Number of the frame that holds each place's chunk; set by {@link #locate}. */
    private int[] frames = new int[256];

    PlaceBatch(PlaceWriter writer, boolean verifyFingerprints, AtomicReference<@Nullable IOException> failure) {
        this.writer = writer;
        this.verifyFingerprints = verifyFingerprints;
        this.failure = failure;
    }

    /** Sets the turn at the disk in which the frames are read; it learns of the requests. */
    void readIn(DiskQueue.Turn present) {
        turn = present;
    }

    @Override
    public void requested(long pack, long offset, int bytes, long nanos) {
        if (turn != null) {
            turn.requested(pack, offset, bytes, nanos);
        }
    }

    boolean isFull() {
        return count == MAX_PLACES;
    }

    /** Returns the bytes of all places; a chunk with several places counts as often. */
    long bytes() {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += lengths[i];
        }
        return bytes;
    }

    /** Adds the current place of the cursor. */
    void add(Places.Cursor place) {
        if (count == chunkIds.length) {
            int more = 2 * count;
            chunkIds = Arrays.copyOf(chunkIds, more);
            files = Arrays.copyOf(files, more);
            offsets = Arrays.copyOf(offsets, more);
            chunkOffsets = Arrays.copyOf(chunkOffsets, more);
            lengths = Arrays.copyOf(lengths, more);
            fingerprintPrefixes = Arrays.copyOf(fingerprintPrefixes, more);
            frames = Arrays.copyOf(frames, more);
        }
        chunkIds[count] = place.chunkId();
        files[count] = place.file();
        offsets[count] = place.offset();
        chunkOffsets[count] = place.chunkOffset();
        lengths[count] = place.length();
        fingerprintPrefixes[count++] = place.fingerprintPrefix();
    }

    /**
     * Returns the wanted frames, in ascending order. A place whose frame cannot be found is reported as damaged, and
     * removed.
     */
    int[] locate(ContainerStore containers) {
        int[] wanted = new int[count];
        int wantedCount = 0;
        int kept = 0;
        for (int i = 0; i < count; i++) {
            int frame = frameOf(containers, i);
            if (frame >= 0) {
                move(i, kept);
                frames[kept++] = frame;
                if (wantedCount == 0 || wanted[wantedCount - 1] != frame) {
                    wanted[wantedCount++] = frame;
                }
            }
        }
        count = kept;
        return Arrays.copyOf(wanted, wantedCount);
    }

    private int frameOf(ContainerStore containers, int i) {
        try {
            return containers.frameOf(chunkIds[i]);
        } catch (IOException e) {
            tellDamaged(i, e);
            return -1;
        }
    }

    private void move(int from, int to) {
        chunkIds[to] = chunkIds[from];
        files[to] = files[from];
        offsets[to] = offsets[from];
        chunkOffsets[to] = chunkOffsets[from];
        lengths[to] = lengths[from];
        fingerprintPrefixes[to] = fingerprintPrefixes[from];
    }

    /** Reports all places as damaged: nothing of the container can be read. */
    void allDamaged(IOException why) {
        for (int i = 0; i < count; i++) {
            tellDamaged(i, why);
        }
    }

    @Override
    public boolean keepsFrames() {
        return false;
    }

    @Override
    public void frame(int frame, Frame contents) {
        try {
            for (int i = first(frame); i < count && frames[i] == frame; ) {
                i = write(i, contents);
            }
        } catch (IOException e) {
            failure.compareAndSet(null, e);
        }
    }

    /**
     * Writes a place, together with the places after it that follow it both in the file and in the frame; returns the
     * next one.
     */
    private int write(int i, Frame contents) throws IOException {
        if (!isRight(i, contents)) {
            tellDamaged(
                    i,
                    new CorruptionException(
                            "container " + ChunkId.container(chunkIds[i]),
                            -1,
                            "the chunk that the recipe names in slot " + ChunkId.slot(chunkIds[i]),
                            "another one"));
            return i + 1;
        }
        int from = start(i, contents);
        int length = lengths[i];
        int next = i + 1;
        while (next < count
                && frames[next] == frames[i]
                && files[next] == files[i]
                && offsets[next] == offsets[i] + length
                && isRight(next, contents)
                && start(next, contents) == from + length) {
            length += lengths[next++];
        }
        writer.write(files[i], offsets[i], contents.data(), from, length);
        return next;
    }

    private boolean isRight(int i, Frame contents) {
        int slot = ChunkId.slot(chunkIds[i]);
        return contents.holds(slot)
                && contents.fingerprintPrefix(slot) == fingerprintPrefixes[i]
                && chunkOffsets[i] + lengths[i] <= contents.length(slot);
    }

    private int start(int i, Frame contents) {
        return contents.offset(ChunkId.slot(chunkIds[i])) + chunkOffsets[i];
    }

    @Override
    public void damaged(int frame, IOException why) {
        for (int i = first(frame); i < count && frames[i] == frame; i++) {
            tellDamaged(i, why);
        }
    }

    /** A failure that says nothing about what is stored ends the restore instead. */
    private void tellDamaged(int i, IOException why) {
        if (NoAnswer.is(why)) {
            failure.compareAndSet(null, why);
            return;
        }
        writer.damaged(files[i], offsets[i], lengths[i], why);
    }

    /** Returns the first place in a frame. */
    private int first(int frame) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (frames[middle] < frame) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    @Override
    public boolean verifiesFingerprints() {
        return verifyFingerprints;
    }
}
