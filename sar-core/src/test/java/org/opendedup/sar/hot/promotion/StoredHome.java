package org.opendedup.sar.hot.promotion;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.ContainerOptions;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.container.HeapContainerTable;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.record.MetadataHeader;

/** Random chunks of 8 KiB in sealed containers of 1 MiB, eight to a frame, and recipes in memory. */
final class StoredHome implements Closeable {
    static final int CHUNK = 8 << 10;
    static final int PER_FRAME = 8;
    static final int PER_CONTAINER = 128;

    final ContainerStore containers;
    final MetadataStore metadata;
    final HomeDouble frames;
    /** The bytes of each chunk by its id, in the order in which they were stored. */
    final Map<Long, byte[]> chunks = new LinkedHashMap<>();

    private final HeapContainerTable table = new HeapContainerTable();
    private final ExecutorService workers = Executors.newSingleThreadExecutor();

    StoredHome(Path folder, int pageBytes, int chunks) throws IOException {
        AtomicLong ids = new AtomicLong();
        containers = ContainerStore.open(
                FileDirectory.open(folder),
                new ContainerOptions(
                        new Compression(Compression.Codec.NONE, 1, PER_FRAME * CHUNK),
                        16 << 20,
                        PER_CONTAINER,
                        1,
                        4 << 20,
                        ContainerCipher.NONE),
                ids::incrementAndGet,
                table,
                container -> null,
                (container, table) -> {},
                workers,
                1 << 20);
        frames = new HomeDouble(containers);
        metadata = MetadataStore.format(
                new HeapKeyValueStore(),
                new MetadataHeader(new UUID(1, 2), pageBytes, 3, MetadataHeader.FORMAT_VERSION));
        store(chunks);
    }

    private void store(int count) throws IOException {
        Random random = new Random(TestSeed.next());
        try (ContainerWriter writer = containers.writer(1)) {
            for (int i = 0; i < count; i++) {
                byte[] data = new byte[CHUNK];
                random.nextBytes(data);
                chunks.put(writer.append(data, 0, CHUNK, new byte[Fingerprints.BYTES], 0), data);
            }
        }
        table.sealAll(containers);
    }

    PromotionSources sources(CountSource counts, LongSupplier diskUse) {
        return new PromotionSources(metadata.recipes(), containers, frames, counts, diskUse);
    }

    @Override
    public void close() throws IOException {
        containers.close();
        metadata.close();
        workers.shutdownNow();
    }
}
