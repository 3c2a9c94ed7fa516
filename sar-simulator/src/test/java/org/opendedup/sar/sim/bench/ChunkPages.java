package org.opendedup.sar.sim.bench;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.volume.config.MemoryPlan;

/**
 * Metadata of many chunks without stored data: recipes of files of {@value #FILE_PAGES} pages, and the counts that
 * follow from them. Chunks have a realistic length, about 9.6 KB. For one thread.
 */
final class ChunkPages implements Closeable {
    private static final int PAGE_BYTES = 256 << 10;
    private static final int PAGE_CHUNKS = 27;
    private static final int FILE_PAGES = 400;
    private static final int CONTAINER_CHUNKS = 400;

    private final Path folder;
    private final long chunks;
    private final MemoryPlan plan;
    private final Random random;
    private final boolean isNew;
    private final @Nullable VolumeKeys keys;
    private MetadataStore metadata;
    private long longestCommitNs;

    private ChunkPages(
            Path folder,
            long chunks,
            MemoryPlan plan,
            long seed,
            boolean isNew,
            @Nullable VolumeKeys keys,
            MetadataStore metadata) {
        this.folder = folder;
        this.chunks = chunks;
        this.plan = plan;
        random = new Random(seed);
        this.isNew = isNew;
        this.keys = keys;
        this.metadata = metadata;
    }

    /** Opens the database of a folder; makes an empty one if there is none. */
    static ChunkPages open(Path folder, long chunks, long budgetBytes, long seed, @Nullable VolumeKeys keys)
            throws IOException {
        MemoryPlan plan = MemoryPlan.of(budgetBytes);
        boolean isNew = Files.notExists(folder);
        if (isNew) {
            KeyValueStore database =
                    KeyValueStores.sealed(KeyValueStores.openRocksDb(folder, plan.metadataNative(), true), keys);
            MetadataHeader header =
                    new MetadataHeader(new UUID(seed, seed), PAGE_BYTES, 0, MetadataHeader.FORMAT_VERSION);
            MetadataStore.format(database, header).close();
        }
        return new ChunkPages(folder, chunks, plan, seed, isNew, keys, openStore(folder, plan, keys));
    }

    private static MetadataStore openStore(Path folder, MemoryPlan plan, @Nullable VolumeKeys keys) throws IOException {
        return MetadataStore.open(
                KeyValueStores.sealed(KeyValueStores.openRocksDb(folder, plan.metadataNative(), false), keys),
                plan.metadataCache());
    }

    boolean isNew() {
        return isNew;
    }

    long files() {
        return pages() / FILE_PAGES + 1;
    }

    private long pages() {
        return chunks / PAGE_CHUNKS;
    }

    double longestCommitMs() {
        return longestCommitNs / 1e6;
    }

    void reopen() throws IOException {
        metadata.close();
        metadata = openStore(folder, plan, keys);
    }

    /** Writes all pages, and commits as often as a volume would. */
    void fill() throws IOException {
        long chunk = 0;
        for (long page = 0; page < pages(); page++) {
            RecipePage.Builder builder = new RecipePage.Builder();
            int left = PAGE_BYTES;
            for (int i = PAGE_CHUNKS; i > 0; i--) {
                int length = i == 1 ? left : Math.max(1024, left / i + random.nextInt(8192) - 4096);
                builder.add(chunkId(chunk++), 0, length, random.nextInt());
                left -= length;
            }
            metadata.recipes().replace(file(page), page % FILE_PAGES, builder.build());
            if (metadata.pendingBytes() > plan.pendingMetadata() / 2) {
                commit();
            }
        }
        commit();
    }

    private void commit() throws IOException {
        long begin = System.nanoTime();
        metadata.commit(metadata.freeze());
        longestCommitNs = Math.max(longestCommitNs, System.nanoTime() - begin);
    }

    private static long file(long page) {
        return 2 + page / FILE_PAGES;
    }

    private static long chunkId(long chunk) {
        return ChunkId.of(1 + chunk / CONTAINER_CHUNKS, (int) (chunk % CONTAINER_CHUNKS));
    }

    void readPages(Random where, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            long page = where.nextLong(pages());
            if (metadata.recipes().page(file(page), page % FILE_PAGES).count() != PAGE_CHUNKS) {
                throw new IllegalStateException("page " + page + " is not what was written");
            }
        }
    }

    void readCounts(Random where, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            long chunk = where.nextLong(pages() * PAGE_CHUNKS);
            if (metadata.counts().count(chunkId(chunk)) != 1) {
                throw new IllegalStateException("chunk " + chunk + " is not counted once");
            }
        }
    }

    @Override
    public void close() throws IOException {
        metadata.close();
    }
}
