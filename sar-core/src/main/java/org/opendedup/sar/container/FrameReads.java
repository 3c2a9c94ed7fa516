package org.opendedup.sar.container;

import java.io.IOException;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.io.FileLayout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads frames wherever they are: from an open container's memory, or by {@link ContainerReader} from a file. The
 * methods are those of {@link ContainerStore} with the same names. Safe for use by many threads.
 *
 * <p>A container may be sealed while it is read. It is then looked for in memory first, and its frames are in its file
 * before it leaves memory.
 */
final class FrameReads {
    private static final Logger log = LoggerFactory.getLogger(FrameReads.class);

    private final UnsealedContainers open;
    private final SealedContainers sealed;
    private final ContainerReader reader;

    FrameReads(UnsealedContainers open, SealedContainers sealed, ContainerReader reader) {
        this.open = open;
        this.sealed = sealed;
        this.reader = reader;
    }

    Frame frame(long container, int frame, boolean verifyFingerprints) throws IOException {
        OpenContainer unsealed = open.get(container);
        if (unsealed != null) {
            Frame inMemory = unsealed.frameInMemory(frame);
            if (inMemory != null) {
                return inMemory;
            }
        }
        LocatedTable at = located(container);
        checkFrame(container, at.table(), frame);
        return reader.frame(container, at, frame, verifyFingerprints);
    }

    private static void checkFrame(long container, FrameTable table, int frame) {
        if (frame < 0 || frame >= table.frames()) {
            throw new IllegalArgumentException(
                    "container " + container + " has frames 0 to " + (table.frames() - 1) + ", not " + frame);
        }
    }

    void readFrames(long container, int[] frames, int count, int maxGapBytes, FrameConsumer consumer, Decoding decoding)
            throws IOException {
        OpenContainer unsealed = open.get(container);
        if (unsealed == null) {
            readStoredFrames(container, frames, count, maxGapBytes, consumer, decoding);
            return;
        }
        int[] stored = new int[count];
        int storedCount = 0;
        for (int i = 0; i < count; i++) {
            Frame inMemory;
            try {
                inMemory = unsealed.frameInMemory(frames[i]);
            } catch (IOException e) {
                consumer.damaged(frames[i], e);
                continue;
            }
            if (inMemory == null) {
                stored[storedCount++] = frames[i];
            } else {
                consumer.frame(frames[i], inMemory);
            }
        }
        readStoredFrames(container, stored, storedCount, maxGapBytes, consumer, decoding);
    }

    private void readStoredFrames(
            long container, int[] frames, int count, int maxGapBytes, FrameConsumer consumer, Decoding decoding)
            throws IOException {
        if (count == 0) {
            return;
        }
        LocatedTable at = located(container);
        int[] present = new int[count];
        int presentCount = 0;
        for (int i = 0; i < count; i++) {
            checkFrame(container, at.table(), frames[i]);
            if (at.table().isRemoved(frames[i])) {
                consumer.damaged(frames[i], new FrameDecoder.Expected(container, at, frames[i]).removed());
            } else {
                present[presentCount++] = frames[i];
            }
        }
        reader.frames(container, at, present, presentCount, maxGapBytes, consumer, decoding);
    }

    int frameOf(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        OpenContainer unsealed = open.get(container);
        int frame = unsealed == null ? sealed.located(container).table().frameOf(slot) : unsealed.frameOf(slot);
        if (frame < 0) {
            throw new CorruptionException("container " + container, -1, "slot " + slot, "no such slot");
        }
        return frame;
    }

    int knownFrameOf(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        OpenContainer unsealed = open.get(container);
        if (unsealed != null) {
            return unsealed.frameOf(slot);
        }
        LocatedTable cached = sealed.cached(container);
        return cached == null ? -1 : cached.table().frameOf(slot);
    }

    FileLayout layout(long container) {
        try {
            return open.contains(container) ? FileLayout.UNKNOWN : reader.layout(container);
        } catch (IOException e) {
            log.debug("container {} cannot be opened; a reader of it gets the error", container, e);
            return FileLayout.UNKNOWN;
        }
    }

    LocatedTable located(long container) throws IOException {
        OpenContainer unsealed = open.get(container);
        if (unsealed == null) {
            return sealed.located(container);
        }
        FrameTable table = unsealed.table();
        PackPlace place = unsealed.place();
        return place == null
                ? new LocatedTable(LocatedTable.NO_PACK, 0, table)
                : new LocatedTable(place.pack(), place.offset(), table);
    }
}
