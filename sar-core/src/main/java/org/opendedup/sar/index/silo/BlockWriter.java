package org.opendedup.sar.index.silo;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;

/**
 * Adds segments to the open block, and divides writing it into steps: {@link #begin} takes the bytes of its file, the
 * caller writes them, and {@link #complete} writes, in one batch, the records that name it and the frame tables of the
 * containers that are complete with it. One block is written at a time, in the order of their numbers. So a container
 * is covered after a crash only if all blocks with its chunks are there. Not thread-safe; while a file is being
 * written, everything but {@link #begin} may be called.
 */
final class BlockWriter {
    /** Assumed length of a chunk that is inserted singly, in bytes. */
    private static final int CHUNK_BYTES = 8 << 10;

    private final SiloRecords records;
    private final SimilarityTable similar;
    private final ResidentBlocks blocks;
    private final SiloSettings settings;

    /** Random number of the index. */
    private long identity;

    private long chunks;
    private long highest;

    /** The containers with new chunks in the open block. */
    private final Set<Long> openContainers = new HashSet<>();
    /** Frame tables of containers that are covered durably when the open block is written. */
    private final TreeMap<Long, byte[]> openCovered = new TreeMap<>();
    /** Whether the open block has entries that its file lacks, also when that is written. */
    private boolean unwritten;
    /** Whether the open block has a file and records, which have a part of its entries. */
    private boolean recorded;

    /** What is being written; null if nothing is. */
    private @Nullable Writing writing;

    /** Data in the segment that is not ended yet, in bytes. */
    private long segmentBytes;
    /** Whether single insertions began it. */
    private boolean isOfSingleChunks;
    /** Containers that lost entries while they were filled: the next {@link #cover} is refused. */
    private final Set<Long> incomplete = new HashSet<>();

    /** @param state null for a new index */
    BlockWriter(
            SiloRecords records,
            SimilarityTable similar,
            ResidentBlocks blocks,
            SiloSettings settings,
            SiloRecords.@Nullable State state)
            throws IOException {
        this.records = records;
        this.similar = similar;
        this.blocks = blocks;
        this.settings = settings;
        highest = records.highestContainer();
        if (state == null) {
            beginEmpty();
        } else {
            identity = state.index();
            chunks = state.chunks();
        }
    }

    private void beginEmpty() throws IOException {
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
        return block.dataBytes() >= settings.blockBytes() || block.count() == Block.MAX_ENTRIES;
    }

    /** Returns whether this number of chunks may be added to the open block. An empty one has room for any segment. */
    boolean hasRoom(int count) {
        Block open = blocks.open();
        return open.count() == 0
                || open.dataBytes() < settings.blockBytes() && open.count() + count <= Block.MAX_ENTRIES;
    }

    /** Returns whether the open block has entries that no file has, nor gets from the write that runs. */
    boolean isUnwritten() {
        return unwritten;
    }

    /** Adds all chunks of segments with a new one, those that were found as well: a later one like it finds them. */
    void insert(Segment segment) throws IOException {
        if (isOfSingleChunks) {
            endSegment();
        }
        RemovalChanges taken = new RemovalChanges(records);
        for (int from = 0; from < segment.count(); ) {
            int to = settings.end(segment, from);
            if (hasFresh(segment, from, to)) {
                insert(segment, from, to, taken);
            }
            from = to;
        }
        taken.write();
    }

    private void insert(Segment segment, int from, int to, RemovalChanges taken) throws IOException {
        for (int chunk = from; chunk < to; chunk++) {
            if (!segment.isZero(chunk) && segment.chunkId(chunk) != ChunkId.NONE) {
                boolean fresh = segment.isFresh(chunk);
                int offset = Segment.fingerprintOffset(chunk);
                if (fresh) {
                    taken.takeBack(segment.fingerprints(), offset, segment.chunkId(chunk));
                }
                add(segment.fingerprints(), offset, segment.chunkId(chunk), fresh, segment.length(chunk));
            }
        }
        if (!settings.isJoined(segmentBytes)) {
            endSegment();
        }
    }

    private static boolean hasFresh(Segment segment, int from, int to) {
        for (int chunk = from; chunk < to; chunk++) {
            if (segment.isFresh(chunk)) {
                return true;
            }
        }
        return false;
    }

    /** Adds a chunk; consecutive ones form segments. */
    void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        if (segmentBytes >= settings.segmentBytes()) {
            endSegment();
        }
        isOfSingleChunks = true;
        RemovalChanges taken = new RemovalChanges(records);
        taken.takeBack(fingerprints, offset, chunkId);
        add(fingerprints, offset, chunkId, true, CHUNK_BYTES);
        taken.write();
    }

    private void add(byte[] fingerprints, int offset, long chunkId, boolean fresh, int length) {
        blocks.open().add(fingerprints, offset, chunkId, fresh, length);
        unwritten = true;
        segmentBytes += length;
        if (fresh) {
            long container = ChunkId.container(chunkId);
            openContainers.add(container);
            highest = Math.max(highest, container);
            chunks++;
        }
    }

    /** Ends the segment of the open block, if one is begun, and enters its representative in the similarity table. */
    private void endSegment() {
        segmentBytes = 0;
        isOfSingleChunks = false;
        Block open = blocks.open();
        if (open.endSegment()) {
            similar.put(open.representative(open.segments() - 1), open.number());
        }
    }

    /**
     * A state of a block that is written to its file.
     *
     * @param bytes those of the file
     * @param isWhole whether the block receives no more segments; if it does, later ones are not in this state
     * @param containers of the block's chunks: whether any of them are new in it
     * @param covered frame tables of the containers that are complete with it, also those that came later
     * @param chunks chunks of the index when the state was taken
     */
    record Writing(
            Block block,
            ByteBuffer bytes,
            boolean isWhole,
            Map<Long, Boolean> containers,
            List<Long> representatives,
            TreeMap<Long, byte[]> covered,
            long chunks) {
        private boolean hasNewOf(long container) {
            return containers.getOrDefault(container, false);
        }
    }

    /** Returns what is being written; null if nothing is. */
    @Nullable
    Writing writing() {
        return writing;
    }

    /**
     * Takes the state of the open block that its file is to have. Either {@link #complete} or {@link #fail} must
     * follow.
     *
     * @param replace whether another block is open from now on, also if this one is not full
     */
    Writing begin(boolean replace) {
        endSegment();
        Block open = blocks.open();
        boolean isWhole = replace || isFull(open);
        Map<Long, Boolean> containers = new HashMap<>();
        for (int entry = 0; entry < open.count(); entry++) {
            containers.merge(open.container(entry), open.isFresh(entry), Boolean::logicalOr);
        }
        List<Long> representatives = new ArrayList<>();
        for (int segment = 0; segment < open.segments(); segment++) {
            representatives.add(open.representative(segment));
        }
        writing = new Writing(
                open,
                BlockFormat.encode(open, identity),
                isWhole,
                containers,
                representatives,
                new TreeMap<>(openCovered),
                chunks);
        openCovered.clear();
        unwritten = false;
        if (isWhole) {
            openContainers.clear();
            blocks.replaceOpen(new Block(open.number() + 1));
        }
        return writing;
    }

    /** Writes the records of a block whose file is durable. */
    void complete(Writing written) throws IOException {
        int number = written.block.number();
        try (SiloRecords.Change change = records.change()) {
            for (Map.Entry<Long, Boolean> container : written.containers.entrySet()) {
                change.block(container.getKey(), number, container.getValue());
            }
            for (long representative : written.representatives) {
                change.representative(representative, number);
            }
            for (Map.Entry<Long, byte[]> covered : written.covered.entrySet()) {
                change.cover(covered.getKey(), covered.getValue());
            }
            change.highest(highest)
                    .state(new SiloRecords.State(number, written.chunks, identity))
                    .write();
        }
        recorded = !written.isWhole;
        end(written);
    }

    /**
     * Notes that a block could not be written. One that receives segments is written again later. A whole one is given
     * up, so that memory stays bounded: what is recorded of it stays in its file.
     *
     * @return whether nothing is recorded of a block that is given up, and blocks with higher numbers may be
     */
    boolean fail(Writing failed) {
        boolean isHole = false;
        if (failed.isWhole) {
            isHole = giveUp(failed);
        } else {
            unwritten = true;
            failed.covered.forEach(openCovered::putIfAbsent);
        }
        end(failed);
        return isHole;
    }

    private void end(Writing ended) {
        writing = null;
        if (ended.isWhole) {
            blocks.endWrite();
        }
    }

    private boolean giveUp(Writing failed) {
        int number = failed.block.number();
        similar.forget(number);
        failed.containers.forEach((container, fresh) -> {
            if (fresh) {
                incomplete.add(container);
                // Its later chunks are in the open block: it was to be covered with that.
                openCovered.remove(container);
            }
        });
        blocks.drop(failed.block);
        boolean isFree = !recorded;
        recorded = false;
        if (isFree && blocks.open().count() == 0) {
            blocks.dropOpen(new Block(number));
            return false;
        }
        return isFree;
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
        if (writing != null && writing.hasNewOf(container)) {
            writing.covered.put(container, frameTable.clone());
            return;
        }
        try (SiloRecords.Change change = records.change()) {
            change.cover(container, frameTable).highest(highest).write();
        }
    }

    /** Forgets that a container is to be covered. */
    void uncover(long container) {
        incomplete.remove(container);
        byte[] unused = forgetCover(container);
    }

    /** Forgets the frame table of a container that waits for a block, and returns it; null if none waits. */
    private byte @Nullable [] forgetCover(long container) {
        byte[] open = openCovered.remove(container);
        byte[] written = writing == null ? null : writing.covered.remove(container);
        return open == null ? written : open;
    }

    /** Has a container that is still being filled not covered, because a block with chunks of it is lost. */
    void lose(long container) throws IOException {
        if (forgetCover(container) != null || records.frameTable(container) == null) {
            incomplete.add(container);
        }
    }

    byte @Nullable [] openCovered(long container) {
        byte[] frameTable = openCovered.get(container);
        if (frameTable == null && writing != null) {
            frameTable = writing.covered.get(container);
        }
        return frameTable == null ? null : frameTable.clone();
    }

    /** Adds the numbers of the blocks with new chunks of a container that are not recorded yet. */
    void addUnrecorded(long container, Set<Integer> numbers) {
        if (openContainers.contains(container)) {
            numbers.add(blocks.open().number());
        }
        if (writing != null && writing.hasNewOf(container)) {
            numbers.add(writing.block.number());
        }
    }

    /** Notes that slots were removed. */
    void subtract(long removed) {
        chunks = Math.max(0, chunks - removed);
    }

    /** Begins an empty index; its records were removed. */
    void clear() throws IOException {
        beginEmpty();
        similar.clear();
        blocks.clear(new Block(1));
        openContainers.clear();
        openCovered.clear();
        incomplete.clear();
        unwritten = false;
        recorded = false;
        segmentBytes = 0;
        isOfSingleChunks = false;
    }
}
