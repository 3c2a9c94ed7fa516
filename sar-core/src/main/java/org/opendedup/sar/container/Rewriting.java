package org.opendedup.sar.container;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes an unsealed container to another pack after a write or force of its pack failed. A failed force is never
 * retried on the same file: the system may have marked unwritten pages as written, and would then report success. So
 * every frame is read back, from memory or from the old file, checked, and written to a new one, which is forced.
 */
final class Rewriting {
    private static final Logger log = LoggerFactory.getLogger(Rewriting.class);

    private final Directory directory;
    private final ContainerWriting writing;
    private final ContainerIdentity identity;
    private final @Nullable PackPlace place;
    private final FrameTable table;
    private final Map<Integer, byte[]> kept;

    /**
     * Prepares a rewriting of one container.
     *
     * @param place where the container lies; null if no frame is in the file
     * @param table the frames that the file has, one after another
     * @param kept the frames that are in memory, by frame number
     */
    Rewriting(
            Directory directory,
            ContainerWriting writing,
            @Nullable PackPlace place,
            FrameTable table,
            Map<Integer, byte[]> kept) {
        this.directory = directory;
        this.writing = writing;
        identity = writing.identity();
        this.place = place;
        this.table = table;
        this.kept = kept;
    }

    /**
     * Reads frames whose force failed back into memory while the system still has them: it may drop their pages any
     * time, because it counts them as written. Stops at the first frame that cannot be read back unchanged, or that
     * exceeds the budget.
     *
     * @param from the first frame that was not forced
     * @param budget the budget that the kept bytes are added to
     */
    static Map<Integer, byte[]> keep(
            Directory directory,
            ContainerWriting writing,
            PackPlace place,
            FrameTable table,
            int from,
            InFlightBudget budget) {
        Map<Integer, byte[]> kept = new HashMap<>();
        Rewriting reading = new Rewriting(directory, writing, place, table, Map.of());
        try (Input input = directory.open(PackFormat.fileName(place.pack()))) {
            for (int frame = from; frame < table.frames() && budget.tryAdd(table.fileLength(frame)); frame++) {
                try {
                    kept.put(frame, reading.read(input, place, frame));
                } catch (IOException e) {
                    budget.release(table.fileLength(frame));
                    throw e;
                }
            }
        } catch (IOException e) {
            log.warn(
                    "container {}: of frames whose force failed, not all can be kept", reading.identity.container(), e);
        }
        return kept;
    }

    /** Returns the number of frames that the new place gets: all that the old one has. */
    int frames() {
        return table.frames();
    }

    /**
     * Writes header and frames to a pack without containers. All of it is durable when this returns, including the name
     * of the file.
     *
     * @return the new place; null if there are no frames
     * @throws CorruptionException if a frame cannot be read back unchanged: its chunks are lost
     * @throws IOException if the disk still fails; the caller may retry with another pack
     */
    @Nullable
    PackPlace run(Pack fresh) throws IOException {
        PackPlace from = place;
        fresh.lock().lock();
        try {
            PackPlace to = from == null ? null : copy(from, fresh);
            fresh.forceNow();
            fresh.syncName();
            fresh.nameIsDurable();
            return to;
        } finally {
            fresh.lock().unlock();
        }
    }

    private PackPlace copy(PackPlace from, Pack fresh) throws IOException {
        try (Input input = directory.open(PackFormat.fileName(from.pack()))) {
            long start = fresh.append(ContainerFormat.begin(writing, 0).buffer());
            for (int frame = 0; frame < table.frames(); frame++) {
                byte[] inMemory = kept.get(frame);
                byte[] bytes = inMemory == null ? read(input, from, frame) : inMemory;
                long offset = fresh.append(ByteBuffer.wrap(bytes)) - start;
                if (offset != table.fileOffset(frame)) {
                    throw new IllegalStateException("frame " + frame + " of container " + identity.container()
                            + " was written at offset " + offset + " instead of " + table.fileOffset(frame));
                }
            }
            return new PackPlace(fresh.number(), start);
        }
    }

    private byte[] read(Input input, PackPlace from, int frame) throws IOException {
        byte[] bytes = new byte[table.fileLength(frame)];
        input.readFully(from.offset() + table.fileOffset(frame), ByteBuffer.wrap(bytes));
        FrameFormat.Header header = FrameFormat.readHeader(bytes, 0, bytes.length);
        boolean intact = header != null
                && header.frameBytes() == bytes.length
                && FrameFormat.crcHolds(bytes, 0, header)
                && header.identity().equals(identity)
                && header.firstSlot() == table.firstSlot(frame);
        if (!intact) {
            throw new FrameDecoder.Expected(
                            identity.container(), new LocatedTable(from.pack(), from.offset(), table), frame)
                    .corrupt("the frame that was written before the disk failed", "other bytes");
        }
        return bytes;
    }
}
