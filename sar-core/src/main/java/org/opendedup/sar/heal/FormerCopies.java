package org.opendedup.sar.heal;

import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.Compaction;
import org.opendedup.sar.container.FormerChunks;
import org.opendedup.sar.container.KnownChunks;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.io.NoAnswer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The chunks of a container that can be read in the places where it was before it was healed: a block may be readable
 * now that was not, or a missing pack may be back. Also those of a nearer copy of its present place. For one thread.
 */
final class FormerCopies {
    private static final Logger log = LoggerFactory.getLogger(FormerCopies.class);

    private final Map<Integer, byte[]> chunks = new HashMap<>();
    /** Checksums of the frames in all places, by frame. */
    private final Map<Integer, Set<Integer>> frames = new HashMap<>();

    private final KnownChunks known = new KnownChunks();
    private final ContentHasher hasher = new ContentHasher();

    private final List<StoredContainer> places;

    private FormerCopies(List<StoredContainer> places) {
        this.places = places;
    }

    /** Reads some slots of a container in all its former places. */
    static FormerCopies of(HealParts parts, Compaction compaction, long container, BitSet slots) throws IOException {
        FormerCopies copies =
                new FormerCopies(parts.metadata().damage().former().of(container));
        for (StoredContainer place : copies.places) {
            try (DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
                FormerChunks found = compaction.formerChunks(container, place, slots, copies.known);
                found.chunks().forEach(copies.chunks::putIfAbsent);
                found.checksums().forEach(copies::addFrame);
            } catch (IOException e) {
                NoAnswer.rethrow(e);
                log.debug("a former place of container {} cannot be read", container, e);
            }
        }
        copies.addNearer(parts, compaction, container, slots);
        return copies;
    }

    /** Reads a copy of the present place, if there is one that is nearer. */
    private void addNearer(HealParts parts, Compaction compaction, long container, BitSet slots) throws IOException {
        StoredContainer copy = compaction.copied(container);
        if (copy == null) {
            return;
        }
        try (DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
            compaction.formerChunks(container, copy, slots, known).chunks().forEach(chunks::putIfAbsent);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            log.debug("the copy of container {} cannot be read", container, e);
        }
    }

    private void addFrame(int frame, int checksum) {
        frames.computeIfAbsent(frame, none -> new HashSet<>()).add(checksum);
    }

    /** Returns whether a former place has a frame with the content that has this checksum. */
    boolean hasFrame(int frame, int checksum) {
        return frames.getOrDefault(frame, Set.of()).contains(checksum);
    }

    /** Returns the place of the youngest writing; null if there is none. */
    @Nullable
    StoredContainer last() {
        return places.isEmpty() ? null : places.get(places.size() - 1);
    }

    /** Returns what the directories in the former places list. */
    KnownChunks known() {
        return known;
    }

    /** Returns the bytes of a chunk; null if no former place has them. */
    byte @Nullable [] chunk(SealedContainer directory, int slot) {
        byte[] chunk = chunks.get(slot);
        boolean isRight = chunk != null
                && chunk.length == directory.listedLength(slot)
                && hasher.matches(chunk, 0, chunk.length, directory.fingerprints(), slot * Fingerprints.BYTES);
        return isRight ? chunk : null;
    }
}
