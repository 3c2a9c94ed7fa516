package org.opendedup.sar.sim.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.volume.store.ChunkIndexes;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Adds made chunks to the index of a volume that is not mounted, for {@code scripts/bench index --parts=mount
 * --made=N}. They are new streams in containers of their own, whose ids the metadata reserve, so a mount takes the
 * index for its own. The containers do not exist: nothing refers to these chunks, and a hint of one would be refused by
 * the counts. A lookup of other chunks costs what it costs in a volume that has stored as much.
 */
@Command(name = "MadeIndex", mixinStandardHelpOptions = true)
public final class MadeIndex implements Callable<Integer> {
    private static final byte[] FRAME_TABLE = new byte[512];
    private static final long METADATA_BYTES = 64L << 20;

    @Option(names = "--class", required = true)
    private IndexClass kind = IndexClass.ROCKSDB;

    @Option(names = "--index", required = true, description = "Folder of the index.")
    private Path folder = Path.of("");

    @Option(names = "--metadata", required = true, description = "Folder of the metadata database.")
    private Path metadata = Path.of("");

    @Option(names = "--chunks", required = true)
    private long chunks;

    @Option(names = "--memory", required = true, description = "Bytes of memory to fill the index with.")
    private long memoryBytes;

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new MadeIndex())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        long containers = (chunks + NumberedChunks.CONTAINER_CHUNKS - 1) / NumberedChunks.CONTAINER_CHUNKS;
        long first = reserve(containers);
        try (ChunkIndex index = ChunkIndexes.open(kind, folder, memoryBytes)) {
            fill(index, first, containers * NumberedChunks.CONTAINER_CHUNKS);
        }
        return 0;
    }

    /** Takes container ids that follow one another, and returns the first. */
    private long reserve(long count) throws IOException {
        try (MetadataStore store =
                MetadataStore.open(KeyValueStores.openRocksDb(metadata, METADATA_BYTES, false), METADATA_BYTES)) {
            long first = store.nextContainer();
            for (long taken = 1; taken < count; taken++) {
                long unused = store.nextContainer();
            }
            return first;
        }
    }

    private static void fill(ChunkIndex index, long first, long count) throws IOException {
        Segment segment = NumberedChunks.segment();
        for (long number = 0; number < count; number += NumberedChunks.SEGMENT_CHUNKS) {
            for (int chunk = 0; chunk < NumberedChunks.SEGMENT_CHUNKS; chunk++) {
                NumberedChunks.setFingerprint(segment, chunk, number + chunk);
            }
            index.lookup(segment);
            for (int chunk = 0; chunk < NumberedChunks.SEGMENT_CHUNKS; chunk++) {
                segment.setChunkId(chunk, place(first, number + chunk));
                segment.setFresh(chunk, true);
            }
            index.insert(segment);
            long next = number + NumberedChunks.SEGMENT_CHUNKS;
            if (next % NumberedChunks.CONTAINER_CHUNKS == 0) {
                index.cover(ChunkId.container(place(first, number)), FRAME_TABLE);
            }
        }
    }

    private static long place(long first, long number) {
        return ChunkId.of(
                first + number / NumberedChunks.CONTAINER_CHUNKS, (int) (number % NumberedChunks.CONTAINER_CHUNKS));
    }
}
