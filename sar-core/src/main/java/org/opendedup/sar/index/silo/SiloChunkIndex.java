package org.opendedup.sar.index.silo;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.index.ChunkIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The near-exact index of SiLo (Xia et al., "Similarity and Locality Based Indexing for High Performance Data
 * Deduplication", IEEE TC 2015). A segment whose lowest fingerprint is known leads to the block with that segment; the
 * block is read, and its neighbours find the duplicates of the segments that follow. At most one block is read for a
 * segment.
 *
 * <p>All state is guarded by this. Blocks are read and written without the lock. The thread that fills a block writes
 * it; the others look up and insert meanwhile, and wait only if they fill the next one before that.
 */
public final class SiloChunkIndex implements ChunkIndex {
    private static final Logger log = LoggerFactory.getLogger(SiloChunkIndex.class);

    /** Bytes of the position of a walk: the number of a block, and that of an entry in it. */
    private static final int POSITION_BYTES = 2 * Integer.BYTES;

    private final SiloRecords records;
    private final BlockFiles files;
    private final SimilarityTable similar;
    private final ResidentBlocks blocks;
    private final BlockWriter writer;
    private final SiloSettings settings;
    /** Blocks that are damaged or missing. */
    private final Set<Integer> lost = new HashSet<>();

    private long segments;
    private long similarSegments;
    private long blockReads;
    private boolean closed;

    SiloChunkIndex(SiloRecords records, BlockFiles files, SiloSettings settings) throws IOException {
        this.records = records;
        this.files = files;
        SiloRecords.State state = records.state();
        int last = state == null ? 0 : state.lastBlock();
        BitSet missing = files.keepOnly(last);
        similar = new SimilarityTable(settings.similarityBytes());
        records.forEachRepresentative(similar::put);
        blocks = new ResidentBlocks(settings, new Block(last + 1));
        this.settings = settings;
        writer = new BlockWriter(records, similar, blocks, settings, state);
        for (int number : missing.stream().toArray()) {
            if (!lose(number, "its file is missing")) {
                lost.remove(number); // It was given up, or lost before.
            }
        }
        if (!missing.isEmpty()) {
            fill(missing);
        }
        Block youngest = last == 0 || lost.contains(last) ? null : read(last);
        if (youngest != null) {
            writer.resume(youngest);
        }
    }

    /** Gives missing blocks files without entries: the next opening is not to find them missing again. */
    private void fill(BitSet missing) {
        try {
            // First: after a crash, no container may be covered by a block that has no entries any more.
            records.flush();
            for (int number : missing.stream().toArray()) {
                files.write(number, BlockFormat.encode(new Block(number), writer.identity()));
            }
        } catch (IOException e) {
            log.debug("blocks without entries cannot be written; the next opening tries again", e);
        }
    }

    @Override
    public Exactness exactness() {
        return Exactness.NEAR_EXACT;
    }

    @Override
    public void lookup(Segment segment) throws IOException {
        for (int from = 0; from < segment.count(); ) {
            int to = settings.end(segment, from);
            int representative = Representative.of(segment, from, to);
            if (representative >= 0) {
                load(Representative.key(segment.fingerprints(), Segment.fingerprintOffset(representative)));
            }
            synchronized (this) {
                requireOpen();
                segments++;
                blocks.detect(segment, from, to);
            }
            from = to;
        }
        RemovalChanges removed = new RemovalChanges(records);
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (!segment.isZero(chunk)
                    && segment.hint(chunk) != ChunkId.NONE
                    && removed.contains(
                            segment.fingerprints(), Segment.fingerprintOffset(chunk), segment.hint(chunk))) {
                segment.setHint(chunk, ChunkId.NONE);
            }
        }
    }

    /** Has the block of the similar segment in memory, if there is one. */
    private void load(long key) throws IOException {
        int number;
        synchronized (this) {
            number = similar.get(key);
            if (number == SimilarityTable.NONE) {
                return;
            }
            similarSegments++;
            if (blocks.has(number) || lost.contains(number)) {
                return;
            }
        }
        Block block = read(number);
        synchronized (this) {
            blockReads++;
            if (block != null && !blocks.has(number)) {
                blocks.cache(block);
            }
        }
    }

    /** Returns a block; null if it turns out to be damaged. */
    private @Nullable Block read(int number) throws IOException {
        long identity;
        synchronized (this) {
            requireOpen();
            identity = writer.identity();
        }
        try {
            return files.read(number, identity);
        } catch (CorruptionException e) {
            var unused = lose(number, e.getMessage());
            return null;
        }
    }

    /**
     * Forgets a block, and uncovers the containers whose chunks it had: they are to be read again.
     *
     * @return whether anything was recorded of it
     */
    private synchronized boolean lose(int number, @Nullable String why) throws IOException {
        if (!lost.add(number)) {
            return false;
        }
        similar.forget(number);
        Map<Long, Boolean> containers = new HashMap<>();
        records.forEachBlock((container, block, fresh) -> {
            if (block == number) {
                containers.put(container, fresh);
            }
        });
        List<Long> representatives = new ArrayList<>();
        records.forEachRepresentative((key, block) -> {
            if (block == number) {
                representatives.add(key);
            }
        });
        if (containers.isEmpty() && representatives.isEmpty()) {
            return false;
        }
        log.warn("block {} of the fingerprint index is lost; its containers are to be read again: {}", number, why);
        try (SiloRecords.Change change = records.change()) {
            for (Map.Entry<Long, Boolean> container : containers.entrySet()) {
                change.forgetBlock(container.getKey(), number);
                if (container.getValue()) {
                    writer.lose(container.getKey());
                    change.uncover(container.getKey());
                }
            }
            for (long key : representatives) {
                change.forgetRepresentative(key);
            }
            change.write();
        }
        return true;
    }

    @Override
    public void insert(Segment segment) throws IOException {
        insert(segment.count(), () -> writer.insert(segment));
    }

    @Override
    public void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        insert(1, () -> writer.insert(fingerprints, offset, chunkId));
    }

    @FunctionalInterface
    private interface Insertion {
        void run() throws IOException;
    }

    /** Inserts when the open block has room for this number of chunks; writes the block if it is full then. */
    private void insert(int chunks, Insertion insertion) throws IOException {
        while (!insertIfRoom(chunks, insertion)) {
            write(() -> !writer.hasRoom(chunks), true);
        }
        write(() -> !writer.hasRoom(1), true);
    }

    private synchronized boolean insertIfRoom(int chunks, Insertion insertion) throws IOException {
        requireOpen();
        boolean hasRoom = writer.hasRoom(chunks);
        if (hasRoom) {
            insertion.run();
        }
        return hasRoom;
    }

    /**
     * Writes the open block if that is due, after the one that is being written.
     *
     * @param isDue asked with the lock
     * @param replace whether another block is open from then on, also if this one is not full
     */
    private void write(BooleanSupplier isDue, boolean replace) throws IOException {
        BlockWriter.Writing writing;
        synchronized (this) {
            Threads.await(this, () -> !isDue.getAsBoolean() || writer.writing() == null);
            if (!isDue.getAsBoolean()) {
                return;
            }
            writing = writer.begin(replace);
        }
        boolean isWritten = false;
        try {
            files.write(writing.block().number(), writing.bytes());
            synchronized (this) {
                writer.complete(writing);
                isWritten = true;
            }
        } finally {
            synchronized (this) {
                if (!isWritten && writer.fail(writing)) {
                    lost.add(writing.block().number());
                }
                notifyAll();
            }
        }
    }

    /** Writes what the block files lack, whichever thread does it. */
    private void writeAll() throws IOException {
        write(() -> writer.isUnwritten() || writer.writing() != null, false);
    }

    @Override
    public synchronized void remove(long container, byte[] fingerprints, BitSet slots) throws IOException {
        requireOpen();
        Removals removals = new Removals(records.removals(container));
        int added = removals.add(fingerprints, slots);
        if (added > 0) {
            writer.subtract(added);
            try (SiloRecords.Change change = records.change()) {
                change.removals(container, removals).write();
            }
        }
    }

    /**
     * Visits the entries block by block, also those of older blocks whose fingerprints are in a younger one too: which
     * of them a lookup finds depends on what is in memory.
     */
    @Override
    public byte @Nullable [] forEachAfter(byte @Nullable [] position, int count, EntryVisitor visitor)
            throws IOException {
        ByteBuffer from = position == null ? null : ByteBuffer.wrap(position);
        int number = from == null ? 1 : from.getInt();
        int entry = from == null ? 0 : from.getInt();
        RemovalChanges removed = new RemovalChanges(records);
        int visited = 0;
        for (; number <= lastNumber(); number++, entry = 0) {
            Block block = blockForReading(number);
            for (; block != null && entry < block.count(); entry++) {
                if (visited == count) {
                    return ByteBuffer.allocate(POSITION_BYTES)
                            .putInt(number)
                            .putInt(entry)
                            .array();
                }
                visited += visit(block, entry, removed, visitor) ? 1 : 0;
            }
        }
        return null;
    }

    /** Visits an entry, unless it was removed. */
    private static boolean visit(Block block, int entry, RemovalChanges removed, EntryVisitor visitor)
            throws IOException {
        long id = block.chunkId(entry);
        if (removed.contains(block.entries(), Block.fingerprintOffset(entry), id)) {
            return false;
        }
        visitor.visit(fingerprint(block, entry), id);
        return true;
    }

    /** Reads a block. */
    @Override
    public void sample(RandomGenerator random, EntryVisitor visitor) throws IOException {
        Block block = blockForReading(1 + random.nextInt(lastNumber()));
        if (block != null && block.count() > 0) {
            boolean unused = visit(block, random.nextInt(block.count()), new RemovalChanges(records), visitor);
        }
    }

    private static byte[] fingerprint(Block block, int entry) {
        int at = Block.fingerprintOffset(entry);
        return Arrays.copyOfRange(block.entries(), at, at + Fingerprints.BYTES);
    }

    private synchronized int lastNumber() throws IOException {
        requireOpen();
        return blocks.open().number();
    }

    /** Returns a block, or a copy of the open one; null if it is lost. Does not keep it in memory. */
    private @Nullable Block blockForReading(int number) throws IOException {
        synchronized (this) {
            Block open = blocks.open();
            if (number == open.number()) {
                return Block.of(
                        number,
                        Arrays.copyOf(open.entries(), open.count() * Block.ENTRY_BYTES),
                        new int[0],
                        open.dataBytes());
            }
            if (number > open.number() || lost.contains(number)) {
                return null;
            }
            BlockWriter.Writing writing = writer.writing();
            if (writing != null && writing.block().number() == number) {
                return writing.block();
            }
        }
        return read(number);
    }

    @Override
    public synchronized void cover(long container, byte[] frameTable) throws IOException {
        requireOpen();
        writer.cover(container, frameTable);
    }

    @Override
    public synchronized void uncover(long container) throws IOException {
        requireOpen();
        writer.uncover(container);
        List<Integer> numbers = new ArrayList<>();
        records.forEachBlock(container, (same, block, fresh) -> numbers.add(block));
        try (SiloRecords.Change change = records.change()) {
            for (int number : numbers) {
                change.forgetBlock(container, number);
            }
            change.uncover(container).write();
        }
    }

    @Override
    public byte @Nullable [] frameTable(long container) throws IOException {
        synchronized (this) {
            byte[] pending = writer.openCovered(container);
            if (pending != null) {
                return pending;
            }
        }
        return records.frameTable(container);
    }

    @Override
    public void forEachOf(long container, SlotVisitor visitor) throws IOException {
        TreeSet<Integer> numbers = new TreeSet<>();
        records.forEachBlock(container, (same, block, fresh) -> numbers.add(block));
        synchronized (this) {
            writer.addUnrecorded(container, numbers);
        }
        RemovalChanges removed = new RemovalChanges(records);
        for (int number : numbers) {
            Block block = blockForReading(number);
            for (int entry = 0; block != null && entry < block.count(); entry++) {
                long id = block.chunkId(entry);
                if (ChunkId.container(id) == container
                        && !removed.contains(block.entries(), Block.fingerprintOffset(entry), id)) {
                    visitor.visit(ChunkId.slot(id), fingerprint(block, entry));
                }
            }
        }
    }

    @Override
    public @Nullable Epoch epoch() throws IOException {
        return records.epoch();
    }

    @Override
    public void stamp(Epoch epoch) throws IOException {
        try (SiloRecords.Change change = records.change()) {
            change.epoch(epoch).write();
        }
        records.flush();
    }

    @Override
    public synchronized long highestContainer() {
        return writer.highestContainer();
    }

    @Override
    public synchronized void clear() throws IOException {
        requireOpen();
        records.clear();
        files.keepOnly(0);
        writer.clear();
        lost.clear();
    }

    @Override
    public void flush() throws IOException {
        synchronized (this) {
            requireOpen();
        }
        writeAll();
        records.flush();
    }

    @Override
    public synchronized long estimatedChunks() {
        return writer.chunks();
    }

    /** Returns counters and sizes. */
    public synchronized SiloNumbers numbers() {
        return new SiloNumbers(
                segments,
                similarSegments,
                blockReads,
                blocks.open().number(),
                lost.size(),
                similar.entries(),
                similar.bytes(),
                blocks.bytes());
    }

    private void requireOpen() throws IOException {
        if (closed) {
            throw new IOException("the chunk index is closed");
        }
    }

    /** Writes the open block and closes. Idempotent. */
    @Override
    public void close() throws IOException {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        try {
            writeAll();
        } finally {
            records.close();
        }
    }
}
