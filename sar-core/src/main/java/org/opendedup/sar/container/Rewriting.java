package org.opendedup.sar.container;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rewrites the file of an unsealed container after a write or force of it failed. A failed force is never retried on
 * the same file: the system may have marked unwritten pages as written, and would then report success. So every frame
 * is read back, from memory or from the old file, checked, and written to a new file. The new file is forced and
 * replaces the old one.
 */
final class Rewriting {
    private static final Logger log = LoggerFactory.getLogger(Rewriting.class);

    private final Directory directory;
    private final ContainerIdentity identity;
    private final FrameTable table;
    private final Map<Integer, byte[]> kept;

    /**
     * Prepares a rewriting of one container.
     *
     * @param table the frames that the file has, one after another
     * @param kept the frames that are in memory, by frame number
     */
    Rewriting(Directory directory, ContainerIdentity identity, FrameTable table, Map<Integer, byte[]> kept) {
        this.directory = directory;
        this.identity = identity;
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
            Directory directory, ContainerIdentity identity, FrameTable table, int from, InFlightBudget budget) {
        Map<Integer, byte[]> kept = new HashMap<>();
        Rewriting reading = new Rewriting(directory, identity, table, Map.of());
        try (Input input = directory.open(reading.name(ContainerFormat.OPEN_SUFFIX))) {
            for (int frame = from; frame < table.frames() && budget.tryAdd(table.fileLength(frame)); frame++) {
                try {
                    kept.put(frame, reading.read(input, frame));
                } catch (IOException e) {
                    budget.release(table.fileLength(frame));
                    throw e;
                }
            }
        } catch (IOException e) {
            log.warn("container {}: of frames whose force failed, not all can be kept", identity.container(), e);
        }
        return kept;
    }

    /** Returns the number of frames that the new file gets: all that the old one has. */
    int frames() {
        return table.frames();
    }

    /**
     * Returns the new file, open for appending after the last frame. All of it is durable, including its name.
     *
     * @throws CorruptionException if a frame cannot be read back unchanged: its chunks are lost
     * @throws IOException if the disk still fails; the caller may retry
     */
    Output run() throws IOException {
        String open = name(ContainerFormat.OPEN_SUFFIX);
        String rewritten = name(ContainerFormat.RECOVERY_SUFFIX);
        undoSealing(open);
        if (directory.exists(rewritten)) {
            directory.delete(rewritten);
        }
        Output output = directory.create(rewritten);
        try (Input input = directory.open(open)) {
            Bytes header = new Bytes(ContainerFormat.HEADER_BYTES);
            ContainerFormat.putHeader(identity, header);
            output.append(header.buffer());
            for (int frame = 0; frame < table.frames(); frame++) {
                copy(input, frame, output);
            }
            output.force();
            directory.rename(rewritten, open);
            directory.sync();
            return output;
        } catch (IOException | RuntimeException | Error e) {
            try {
                output.close();
            } catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    /** Renames the file back if it already has its final name; it is unknown whether that rename was durable. */
    private void undoSealing(String open) throws IOException {
        String sealed = name(ContainerFormat.SEALED_SUFFIX);
        if (!directory.exists(open) && directory.exists(sealed)) {
            directory.rename(sealed, open);
        }
    }

    private void copy(Input input, int frame, Output output) throws IOException {
        byte[] inMemory = kept.get(frame);
        byte[] bytes = inMemory == null ? read(input, frame) : inMemory;
        long offset = output.append(ByteBuffer.wrap(bytes));
        if (offset != table.fileOffset(frame)) {
            throw new IllegalStateException("frame " + frame + " of container " + identity.container()
                    + " was written at offset " + offset + " instead of " + table.fileOffset(frame));
        }
    }

    private byte[] read(Input input, int frame) throws IOException {
        byte[] bytes = new byte[table.fileLength(frame)];
        input.readFully(table.fileOffset(frame), ByteBuffer.wrap(bytes));
        FrameFormat.Header header = FrameFormat.readHeader(bytes, 0, bytes.length);
        boolean intact = header != null
                && header.frameBytes() == bytes.length
                && FrameFormat.crcHolds(bytes, 0, header)
                && header.identity().equals(identity)
                && header.firstSlot() == table.firstSlot(frame);
        if (!intact) {
            throw new FrameDecoder.Expected(identity.container(), table, frame)
                    .corrupt("the frame that was written before the disk failed", "other bytes");
        }
        return bytes;
    }

    private String name(String suffix) {
        return ContainerFormat.fileName(identity.container(), suffix);
    }
}
