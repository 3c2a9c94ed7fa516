package org.opendedup.sar.index.silo;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;

/**
 * Adds segments to the open block, and writes it: first its file, then in one batch the records that name it and the
 * frame tables of the containers that are complete with it. So a container is covered after a crash only if all blocks
 * with its chunks are there. Not thread-safe.
 */
final class BlockWriter {
    /** Chunks in a segment that is made from single insertions: 2 MiB in chunks of 8 KiB. */
    private static final int SEGMENT_CHUNKS = 256;

    /** Assumed length of a chunk that is inserted singly, in bytes. */
    private static final int CHUNK_BYTES = 8 << 10;

    private final SiloRecords records;
    private final BlockFiles files;
    private final SimilarityTable similar;
    private final ResidentBlocks blocks;
    private final long blockBytes;

    /** Random number of the index. */
    private long identity;

    private long chunks;
    private long highest;

    /** The containers with new chunks in the open block. */
    private final Set<Long> openContainers = new HashSet<>();
    /** Frame tables of containers that are covered durably when the open block is written. */
    private final TreeMap<Long, byte[]> openCovered = new TreeMap<>();
    /** Whether the open block has entries that its file lacks. */
    private boolean unwritten;
    /** Whether the open block has a file and records, which have a part of its entries. */
    private boolean recorded;

    /** Chunks in the segment that single insertions began. */
    private int singleChunks;
    /** Containers that lost entries while they were filled: the next {@link #cover} is refused. */
    private final Set<Long> incomplete = new HashSet<>();

    /** @param state null for a new index */
    BlockWriter(
            SiloRecords records,
            BlockFiles files,
            SimilarityTable similar,
            ResidentBlocks blocks,
            long blockBytes,
            SiloRecords.@Nullable State state)
            throws IOException {
        this.records = records;
        this.files = files;
        this.similar = similar;
        this.blocks = blocks;
        this.blockBytes = blockBytes;
        highest = records.highestContainer();
        if (state == null) {
            begin();
        } else {
            identity = state.index();
            chunks = state.chunks();
        }
    }

    private void begin() throws IOException {
        identity = ThreadLocalRandom.current().nextLong();
        chunks = 0;
        highest = 0;
        try (SiloRecords.Change change = records.change()) {
            change.state(new SiloRecords.State(0, 0, identity)).write();
        }
    }

    long identity() {
        return identity;
    }

    long chunks() {
        return chunks;
    }

    long highestContainer() {
        return highest;
    }

    /** Continues the last block that was written, unless it is full. */
    void resume(Block last) {
        for (int entry = 0; entry < last.count(); entry++) {
            // The file may be younger than the records, never older.
            highest = Math.max(highest, last.container(entry));
        }
        for (int segment = 0; segment < last.segments(); segment++) {
            similar.put(last.representative(segment), last.number());
        }
        if (!isFull(last)) {
            blocks.dropOpen(last);
            recorded = true;
            for (int entry = 0; entry < last.count(); entry++) {
                if (last.isFresh(entry)) {
                    openContainers.add(last.container(entry));
                }
            }
        }
    }

    private boolean isFull(Block block) {
        return block.dataBytes() >= blockBytes || block.count() == Block.MAX_ENTRIES;
    }

    /** Adds all chunks of a segment, those that were found as well: a later segment like it finds them together. */
    void insert(Segment segment) throws IOException {
        endSegment();
        if (!hasFresh(segment)) {
            return;
        }
        RemovalChanges taken = new RemovalChanges(records);
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (!segment.isZero(chunk) && segment.chunkId(chunk) != ChunkId.NONE) {
                boolean fresh = segment.isFresh(chunk);
                int offset = Segment.fingerprintOffset(chunk);
                if (fresh) {
                    taken.takeBack(segment.fingerprints(), offset, segment.chunkId(chunk));
                }
                add(segment.fingerprints(), offset, segment.chunkId(chunk), fresh, segment.length(chunk));
            }
        }
        endSegment();
        taken.write();
        sealFull();
    }

    private static boolean hasFresh(Segment segment) {
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (segment.isFresh(chunk)) {
                return true;
            }
        }
        return false;
    }

    /** Adds a chunk; consecutive ones form segments. */
    void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        if (singleChunks == SEGMENT_CHUNKS) {
            endSegment();
        }
        RemovalChanges taken = new RemovalChanges(records);
        taken.takeBack(fingerprints, offset, chunkId);
        add(fingerprints, offset, chunkId, true, CHUNK_BYTES);
        singleChunks++;
        taken.write();
        sealFull();
    }

    private void add(byte[] fingerprints, int offset, long chunkId, boolean fresh, int length) throws IOException {
        if (blocks.open().count() == Block.MAX_ENTRIES) {
            seal();
        }
        blocks.open().add(fingerprints, offset, chunkId, fresh, length);
        unwritten = true;
        if (fresh) {
            long container = ChunkId.container(chunkId);
            openContainers.add(container);
            highest = Math.max(highest, container);
            chunks++;
        }
    }

    /** Ends the segment of the open block, if one is begun, and enters its representative in the similarity table. */
    private void endSegment() {
        singleChunks = 0;
        Block open = blocks.open();
        if (open.endSegment()) {
            similar.put(open.representative(open.segments() - 1), open.number());
        }
    }

    private void sealFull() throws IOException {
        if (isFull(blocks.open())) {
            seal();
        }
    }

    /** Writes the open block if it has entries that its file lacks. */
    void flush() throws IOException {
        if (unwritten) {
            seal();
        }
    }

    /**
     * Writes the open block, then the records that name it; begins another one if it is full. If that fails, a full
     * block is given up, so that memory stays bounded.
     */
    private void seal() throws IOException {
        endSegment();
        Block open = blocks.open();
        try {
            files.write(open, identity);
            writeRecords(open);
        } catch (IOException e) {
            if (isFull(open)) {
                giveUp(open);
            }
            throw e;
        }
        openCovered.clear();
        unwritten = false;
        recorded = !isFull(open);
        if (isFull(open)) {
            openContainers.clear();
            blocks.replaceOpen(new Block(open.number() + 1));
        }
    }

    private void writeRecords(Block open) throws IOException {
        Map<Long, Boolean> containers = new HashMap<>();
        for (int entry = 0; entry < open.count(); entry++) {
            containers.merge(open.container(entry), open.isFresh(entry), Boolean::logicalOr);
        }
        try (SiloRecords.Change change = records.change()) {
            for (Map.Entry<Long, Boolean> container : containers.entrySet()) {
                change.block(container.getKey(), open.number(), container.getValue());
            }
            for (int segment = 0; segment < open.segments(); segment++) {
                change.representative(open.representative(segment), open.number());
            }
            for (Map.Entry<Long, byte[]> covered : openCovered.entrySet()) {
                change.cover(covered.getKey(), covered.getValue());
            }
            change.highest(highest)
                    .state(new SiloRecords.State(open.number(), chunks, identity))
                    .write();
        }
    }

    private void giveUp(Block open) {
        similar.forget(open.number());
        incomplete.addAll(openContainers);
        openContainers.clear();
        openCovered.clear();
        unwritten = false;
        // What is recorded of it stays in its file.
        blocks.dropOpen(new Block(recorded ? open.number() + 1 : open.number()));
        recorded = false;
    }

    /**
     * Covers a container, durably as soon as its chunks are.
     *
     * @throws IOException if some of its chunks were lost. They may be inserted again, all of them, and covered then
     */
    void cover(long container, byte[] frameTable) throws IOException {
        if (incomplete.remove(container)) {
            throw new IOException("container " + container + " is not covered: some of its fingerprints were lost"
                    + " because a block of the index could not be written or read");
        }
        highest = Math.max(highest, container);
        if (unwritten && openContainers.contains(container)) {
            openCovered.put(container, frameTable.clone());
            return;
        }
        try (SiloRecords.Change change = records.change()) {
            change.cover(container, frameTable).highest(highest).write();
        }
    }

    /** Forgets that a container is to be covered. */
    void uncover(long container) {
        incomplete.remove(container);
        openCovered.remove(container);
    }

    /** Has a container that is still being filled not covered, because a block with chunks of it is lost. */
    void lose(long container) throws IOException {
        if (openCovered.remove(container) != null || records.frameTable(container) == null) {
            incomplete.add(container);
        }
    }

    byte @Nullable [] openCovered(long container) {
        byte[] frameTable = openCovered.get(container);
        return frameTable == null ? null : frameTable.clone();
    }

    /** Returns whether the open block has new chunks of a container. */
    boolean isOpen(long container) {
        return openContainers.contains(container);
    }

    /** Notes that slots were removed. */
    void subtract(long removed) {
        chunks = Math.max(0, chunks - removed);
    }

    /** Begins an empty index; its records were removed. */
    void clear() throws IOException {
        begin();
        files.keepOnly(0);
        similar.clear();
        blocks.clear(new Block(1));
        openContainers.clear();
        openCovered.clear();
        incomplete.clear();
        unwritten = false;
        recorded = false;
        singleChunks = 0;
    }
}
