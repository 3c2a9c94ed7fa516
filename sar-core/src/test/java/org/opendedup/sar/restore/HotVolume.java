package org.opendedup.sar.restore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.ContainerBytes;
import org.opendedup.sar.container.ContainerOptions;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.container.HeapContainerTable;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.hot.copies.AccessListener;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.copies.FakeCopyStore;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.hot.copies.SsdHealth;
import org.opendedup.sar.hot.distributor.DataDistributor;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.restore.frame.FrameCache;
import org.opendedup.sar.restore.frame.HotSource;
import org.opendedup.sar.restore.lookahead.ReadAhead;
import org.opendedup.sar.restore.lookahead.ReadStreams;
import org.opendedup.sar.restore.lookahead.StreamBudget;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.CopyStore;
import org.opendedup.sar.ssd.Source;

/** Stored chunks, a file made of them, and engines that read it, with a fake SSD. */
public final class HotVolume implements AutoCloseable {
    public static final long INODE = 7;
    static final int PAGE_BYTES = 16 << 10;
    private static final int FRAME_BYTES = 4096;
    private static final Compression COMPRESSION = new Compression(Compression.Codec.LZ4, 0, FRAME_BYTES);
    private static final int CACHE_BYTES = 1 << 20;
    public static final int STREAM_BYTES = 16 << 20;

    public final FakeCopyStore ssd = new FakeCopyStore();
    /** The copies that the distributor sees; null: detached. */
    public volatile CopyStore attached = ssd;

    public final List<byte[]> chunks = new ArrayList<>();
    public final List<Long> ids = new ArrayList<>();
    /** The fingerprint prefix of each chunk. */
    private final List<Integer> prefixes = new ArrayList<>();

    public final Promotions promotions = new Promotions();
    public final DataDistributor distributor;
    public ContainerStore containers;

    /** Bytes in the file before the containers. */
    public final DiskQueue disk = new DiskQueue(DiskOption.AUTO, true, System::nanoTime, OptionalLong::empty);

    private final Path folder;
    private final MetadataStore metadata;
    private final HeapContainerTable table = new HeapContainerTable();
    private final AtomicLong lastContainer = new AtomicLong();
    private final ExecutorService threads = Executors.newFixedThreadPool(2);
    private final ScheduledExecutorService prefetchers = Executors.newScheduledThreadPool(2);
    private byte[] file = new byte[0];

    /** Records what the read path reports. */
    public static final class Promotions implements AccessListener {
        @Override
        public void onDuplicatesMissed(int duplicates, Refusal why) {}

        public final List<Long> fromDisk = new ArrayList<>();
        public final List<Long> fromMemory = new ArrayList<>();
        /** As above, but a chunk cut by a page border is there once, as in the promotion. */
        public final List<Long> onceEach = new ArrayList<>();

        public boolean active = true;

        @Override
        public boolean isActive() {
            return active;
        }

        @Override
        public void onDuplicatesWritten(long inode, ChunkRequest duplicates) {}

        @Override
        public synchronized void onChunksRead(ChunkRequest request, CountSource counts) {
            for (int i = 0; i < request.count(); i++) {
                if (request.source(i) == Source.MEMORY && request.data(i) != null) {
                    fromMemory.add(request.chunkId(i));
                }
                if (request.source(i) == Source.HOME && request.data(i) != null) {
                    fromDisk.add(request.chunkId(i));
                    if (i == 0 || request.chunkId(i) != request.chunkId(i - 1)) {
                        onceEach.add(request.chunkId(i));
                    }
                }
            }
        }
    }

    /** Stores {@code chunks} random chunks of about 1300 bytes, three to a frame. */
    public HotVolume(Path folder, long seed, int chunks) throws IOException {
        this(folder, seed, chunks, 1200, 1350);
    }

    /** Stores {@code chunks} random chunks of {@code minBytes} to {@code maxBytes} (exclusive). */
    public HotVolume(Path folder, long seed, int chunks, int minBytes, int maxBytes) throws IOException {
        this.folder = folder;
        metadata = MetadataStore.format(
                new HeapKeyValueStore(),
                new MetadataHeader(new UUID(1, seed), PAGE_BYTES, 0, MetadataHeader.FORMAT_VERSION));
        containers = openContainers();
        Random random = new Random(seed);
        try (ContainerWriter writer = containers.writer(INODE)) {
            for (int i = 0; i < chunks; i++) {
                byte[] chunk = new byte[minBytes + random.nextInt(maxBytes - minBytes)];
                random.nextBytes(chunk);
                this.chunks.add(chunk);
                byte[] fingerprint = fingerprint(chunk);
                prefixes.add(Fingerprints.fingerprintPrefix(fingerprint, 0));
                ids.add(writer.append(chunk, 0, chunk.length, fingerprint, 0));
            }
        }
        table.sealAll(containers);
        distributor = new DataDistributor(() -> attached, "test", SsdHealth.IGNORED);
    }

    private ContainerStore openContainers() throws IOException {
        return ContainerStore.open(
                FileDirectory.open(folder),
                new ContainerOptions(COMPRESSION, 40_000, 200, 3, 64 * 1024, ContainerCipher.NONE),
                lastContainer::incrementAndGet,
                table,
                container -> null,
                (container, table) -> {},
                threads,
                100_000);
    }

    /** Writes the containers anew without these chunks; engines made before see no containers any more. */
    public void remove(int... which) throws IOException {
        Map<Long, BitSet> removed = new TreeMap<>();
        for (int chunk : which) {
            removed.computeIfAbsent(ChunkId.container(ids.get(chunk)), container -> new BitSet())
                    .set(ChunkId.slot(ids.get(chunk)));
        }
        containers.close();
        for (Map.Entry<Long, BitSet> each : removed.entrySet()) {
            ContainerBytes.remove(
                    FileDirectory.open(folder),
                    table,
                    each.getKey(),
                    each.getValue(),
                    COMPRESSION,
                    ContainerCipher.NONE);
        }
        containers = openContainers();
    }

    public static byte[] fingerprint(byte[] chunk) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(chunk);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    /** Makes the file of these chunks, in this order; -1 stands for 1000 zeros. */
    public void makeFile(int... order) throws IOException {
        makeFile(List.of(), order);
    }

    /**
     * As above. For chunks in {@code otherwise} the recipe has the fingerprint prefix of their bytes there, instead of
     * the stored ones'.
     */
    public void makeFile(List<byte[]> otherwise, int... order) throws IOException {
        RecipePage.Builder page = new RecipePage.Builder();
        int number = 0;
        byte[] bytes = new byte[order.length * 1400];
        int end = 0;
        for (int chunk : order) {
            byte[] stored = chunk < 0 ? new byte[1000] : chunks.get(chunk);
            byte[] contents = chunk >= 0 && chunk < otherwise.size() ? otherwise.get(chunk) : stored;
            int fingerprintPrefix = Fingerprints.fingerprintPrefix(fingerprint(contents), 0);
            System.arraycopy(contents, 0, bytes, end, contents.length);
            end += contents.length;
            for (int at = 0; at < stored.length; ) {
                int length = Math.min(stored.length - at, PAGE_BYTES - page.bytes());
                page.add(chunk < 0 ? ChunkId.NONE : ids.get(chunk), at, length, fingerprintPrefix);
                at += length;
                if (page.bytes() == PAGE_BYTES) {
                    metadata.recipes().replace(INODE, number++, page.build());
                }
            }
        }
        metadata.recipes().replace(INODE, number, page.build());
        file = Arrays.copyOf(bytes, end);
    }

    /** Makes the file of the first bytes of chunks, this number of each; -1 stands for as many zeros. */
    public void makePieces(int[] order, int[] lengths) throws IOException {
        RecipePage.Builder page = new RecipePage.Builder();
        file = new byte
                [IntStream.range(0, order.length)
                        .map(i -> pieceBytes(order[i], lengths[i]))
                        .sum()];
        int number = 0;
        int end = 0;
        for (int i = 0; i < order.length; i++) {
            int bytes = pieceBytes(order[i], lengths[i]);
            byte[] stored = order[i] < 0 ? new byte[bytes] : chunks.get(order[i]);
            System.arraycopy(stored, 0, file, end, bytes);
            end += bytes;
            int fingerprintPrefix = order[i] < 0 ? 0 : prefixes.get(order[i]);
            for (int at = 0; at < bytes; ) {
                int length = Math.min(bytes - at, PAGE_BYTES - page.bytes());
                page.add(order[i] < 0 ? ChunkId.NONE : ids.get(order[i]), at, length, fingerprintPrefix);
                at += length;
                if (page.bytes() == PAGE_BYTES) {
                    metadata.recipes().replace(INODE, number++, page.build());
                }
            }
        }
        metadata.recipes().replace(INODE, number, page.build());
    }

    private int pieceBytes(int chunk, int length) {
        return chunk < 0 ? length : Math.min(length, chunks.get(chunk).length);
    }

    /** Makes an engine with an empty cache. */
    public RestoreEngine engine() {
        return engine(new FrameCache(CACHE_BYTES), false);
    }

    public RestoreEngine engine(FrameCache cache, boolean verifyFingerprints) {
        return engine(cache, verifyFingerprints, budget(STREAM_BYTES));
    }

    public RestoreEngine engine(FrameCache cache, boolean verifyFingerprints, StreamBudget budget) {
        return new RestoreEngine(
                new RestoreEngine.Sources(
                        metadata.recipes(),
                        null,
                        containers,
                        disk,
                        new HotSource(distributor, promotions, metadata.counts()::occurrences)),
                cache,
                budget,
                prefetchers,
                verifyFingerprints,
                (inode, container, frame, cause) -> {});
    }

    public static StreamBudget budget(long bytes) {
        return RestoreSettings.DEFAULT.budget(bytes);
    }

    /** Stops reading ahead. */
    public void endPrefetchers() {
        prefetchers.shutdownNow();
    }

    /** Puts copies of chunks on the SSD. */
    public void promote(int... which) {
        for (int chunk : which) {
            ssd.copies.put(ids.get(chunk), chunks.get(chunk));
        }
    }

    public byte[] expected() {
        return file;
    }

    /** Returns a reader that is read ahead at {@code mostPositions} positions at most. */
    public static ReadStream stream(RestoreEngine engine, int mostPositions) {
        return engine.stream(INODE, mostPositions);
    }

    /** Returns the sequential readers of an engine. */
    public static ReadStreams streams(RestoreEngine engine) {
        return engine.streams();
    }

    /** Reads a range of the file through what is read ahead alone; false if some of it was not. */
    public static boolean readAhead(RestoreEngine engine, ReadAhead.Request ahead, int offset, ByteBuffer target)
            throws IOException {
        return engine.reads().readAhead(ahead, INODE, offset, target.remaining(), target, new HashSet<>());
    }

    public byte[] read(RestoreEngine engine) throws IOException {
        return read(engine, 0, file.length);
    }

    public byte[] read(RestoreEngine engine, int offset, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        engine.read(INODE, offset, length, target);
        return target.array();
    }

    @Override
    public void close() throws IOException {
        distributor.close();
        containers.close();
        metadata.close();
        prefetchers.shutdownNow();
        threads.shutdownNow();
    }
}
