package org.opendedup.sar.heal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.io.NoAnswer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the bytes of chunks by their fingerprints: on the SSD, where the index leads, and in all directories. Returns
 * only bytes that have the fingerprint at that moment. For use by one thread.
 */
final class Sources {
    private static final Logger log = LoggerFactory.getLogger(Sources.class);

    /** Most fingerprints that are looked for in all directories at once: some 20 MB of memory. */
    private static final int MAX_WANTED = 100_000;

    /** Bytes of a segment that is only looked up, which has no data. */
    private static final int NO_DATA = 0;

    private final HealParts parts;
    private final ContentHasher hasher = new ContentHasher();
    private final Segment segment = new Segment(NO_DATA);
    /** Fingerprints that no source had, with the copies that the search found for them. */
    private final Map<ByteBuffer, List<Long>> wanted = new HashMap<>();

    /** Whether the SSD did not answer in this pass. */
    private boolean ssdFails;

    Sources(HealParts parts) {
        this.parts = parts;
    }

    /** Returns a chunk's copy on the SSD; null if there is none with the right bytes. */
    byte @Nullable [] fromSsd(SealedContainer directory, int slot) {
        if (ssdFails) {
            return null;
        }
        int at = slot * Fingerprints.BYTES;
        int prefix = Fingerprints.fingerprintPrefix(directory.fingerprints(), at);
        byte[] copy = null;
        try {
            copy = parts.ssd().copy(ChunkId.of(directory.container(), slot), directory.listedLength(slot), prefix);
        } catch (IOException e) {
            // Each further copy could take as long.
            ssdFails = true;
            log.warn("healing does not use the SSD until the next pass: {}", e.getMessage());
        }
        return copy != null && isRight(copy, 0, copy.length, directory, slot) ? copy : null;
    }

    /** Returns the bytes of another stored copy; null if none is known that has the right bytes. */
    byte @Nullable [] fromOtherCopy(SealedContainer directory, int slot) throws IOException {
        segment.clear();
        segment.add(0, directory.listedLength(slot), false);
        System.arraycopy(
                directory.fingerprints(), slot * Fingerprints.BYTES, segment.fingerprints(), 0, Fingerprints.BYTES);
        try {
            parts.index().lookup(segment);
        } catch (IOException e) {
            log.debug("the index does not tell where other copies are", e);
        }
        byte[] bytes = segment.hint(0) == ChunkId.NONE ? null : copy(segment.hint(0), directory, slot);
        if (bytes != null) {
            return bytes;
        }
        ByteBuffer key = key(directory, slot);
        for (long found : wanted.getOrDefault(key, List.of())) {
            bytes = copy(found, directory, slot);
            if (bytes != null) {
                // So that new data refers to a sound copy, and the next pass need not search.
                parts.index().insert(directory.fingerprints(), slot * Fingerprints.BYTES, found);
                return bytes;
            }
        }
        return null;
    }

    /** Adds a chunk to those for which {@link #search} looks. */
    void want(SealedContainer directory, int slot) {
        if (wanted.size() < MAX_WANTED) {
            wanted.putIfAbsent(key(directory, slot), new ArrayList<>(1));
        }
    }

    /**
     * Looks for the wanted fingerprints in the directories of all sealed containers.
     *
     * @return whether it found any
     */
    boolean search(BooleanSupplier goesOn) throws IOException {
        boolean[] found = new boolean[1];
        parts.containers().forEachContainer(container -> {
            if (wanted.isEmpty() || !goesOn.getAsBoolean()) {
                return false;
            }
            found[0] |= search(container);
            return true;
        });
        return found[0];
    }

    private boolean search(long container) throws IOException {
        boolean found = false;
        try (GracePeriod.Use use = parts.uses().begin();
                DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
            SealedContainer directory = parts.containers().directory(container);
            BitSet damaged = parts.metadata().counts().damaged(container);
            for (int slot = 0; slot < directory.slots(); slot++) {
                boolean isCopy = directory.length(slot) > 0 && !damaged.get(slot);
                List<Long> copies = isCopy ? wanted.get(key(directory, slot)) : null;
                if (copies != null) {
                    copies.add(ChunkId.of(container, slot));
                    found = true;
                }
            }
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            log.debug("container {} is not searched for copies", container, e);
        }
        return found;
    }

    private static ByteBuffer key(SealedContainer directory, int slot) {
        int at = slot * Fingerprints.BYTES;
        return ByteBuffer.wrap(Arrays.copyOfRange(directory.fingerprints(), at, at + Fingerprints.BYTES));
    }

    private byte @Nullable [] copy(long chunkId, SealedContainer directory, int slot) throws IOException {
        long container = ChunkId.container(chunkId);
        int from = ChunkId.slot(chunkId);
        if (container == directory.container() && from == slot) {
            return null;
        }
        try (GracePeriod.Use use = parts.uses().begin();
                DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
            Frame frame = parts.containers().frame(container, parts.containers().frameOf(chunkId), false);
            if (!frame.holds(from)
                    || frame.length(from) != directory.listedLength(slot)
                    || !isRight(frame.data(), frame.offset(from), frame.length(from), directory, slot)) {
                return null;
            }
            int offset = frame.offset(from);
            return Arrays.copyOfRange(frame.data(), offset, offset + frame.length(from));
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            log.debug("copy {} cannot be read", ChunkId.toString(chunkId), e);
            return null;
        }
    }

    private boolean isRight(byte[] bytes, int offset, int length, SealedContainer directory, int slot) {
        return length == directory.listedLength(slot)
                && hasher.matches(bytes, offset, length, directory.fingerprints(), slot * Fingerprints.BYTES);
    }
}
