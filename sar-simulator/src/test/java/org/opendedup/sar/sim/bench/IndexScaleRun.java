package org.opendedup.sar.sim.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.volume.store.ChunkIndexes;

/**
 * Measures one class of index with one number of chunks, in a process of its own, so that the process's memory is that
 * of the index. Prints a line of JSON for each step, a {@link Step}. For {@link IndexScale}.
 */
final class IndexScaleRun {
    private static final Path DROP_CACHES = Path.of("/proc/sys/vm/drop_caches");
    /** Bytes of a frame table of a container with 512 chunks, as compression writes it. */
    private static final byte[] FRAME_TABLE = new byte[512];
    /** One of this number of chunks is new in a drifting stream. */
    private static final int DRIFT = 20;

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * What a step took.
     *
     * @param name name of the step
     * @param chunks number of chunks that were looked up
     * @param seconds wall time
     * @param found chunks that the index led to a copy, of those that are stored, in percent; -1 if none is stored
     * @param deviceReadBytes bytes that the devices returned to this process
     * @param readCalls read system calls of this process
     * @param deviceWrittenBytes bytes that this process caused to be written to devices
     * @param folderBytes bytes of the index's files after it
     * @param usedBytes memory of the process after it, without free parts of its heap
     * @param mostBytes most resident memory of the process until now, with free parts of its heap
     */
    record Step(
            String name,
            long chunks,
            double seconds,
            double found,
            long deviceReadBytes,
            long readCalls,
            long deviceWrittenBytes,
            long folderBytes,
            long usedBytes,
            long mostBytes) {}

    private final IndexClass kind;
    private final long chunks;
    private final long memoryBytes;
    private final long lookups;
    private final Path folder;
    private final Segment segment = NumberedChunks.segment();

    private ChunkIndex index = ChunkIndexes.none();
    private long nextUnknown = NumberedChunks.UNKNOWN;
    private long nextStored;
    private long stored;
    private long found;

    private IndexScaleRun(IndexClass kind, long chunks, long memoryBytes, long lookups, Path folder) {
        this.kind = kind;
        this.chunks = chunks / NumberedChunks.CONTAINER_CHUNKS * NumberedChunks.CONTAINER_CHUNKS;
        this.memoryBytes = memoryBytes;
        this.lookups = lookups;
        this.folder = folder;
    }

    /** Arguments: class, number of chunks, bytes of memory, chunks to look up a step, folder. */
    public static void main(String[] arguments) throws IOException {
        new IndexScaleRun(
                        IndexClass.valueOf(arguments[0]),
                        Long.parseLong(arguments[1]),
                        Long.parseLong(arguments[2]),
                        Long.parseLong(arguments[3]),
                        Path.of(arguments[4]))
                .run();
    }

    private void run() throws IOException {
        measure("open empty", 0, () -> index = ChunkIndexes.open(kind, folder, memoryBytes));
        try {
            measure("insert", chunks, this::fill);
            measure("close", 0, this::close);
            if (Files.isWritable(DROP_CACHES)) {
                Files.writeString(DROP_CACHES, "1");
            }
            measure("open", 0, () -> index = ChunkIndexes.open(kind, folder, memoryBytes));
            long far = chunks / 3;
            measure("unknown", lookups, () -> lookUp(at -> nextUnknown++));
            measure("stream", lookups, () -> lookUp(at -> (far + at) % chunks));
            measure("stream again", lookups, () -> lookUp(at -> (far + at) % chunks));
            measure("drifting", lookups, () -> drift(2 * far));
            measure("shuffled segments", lookups, () -> lookUp(this::inShuffledSegments));
            measure("random chunks", lookups, () -> lookUp(at -> Math.floorMod(NumberedChunks.mix(at), chunks)));
        } finally {
            index.close();
        }
    }

    /** Closes the index and lets go of its memory: there is no room for a second one. */
    private void close() throws IOException {
        index.close();
        index = ChunkIndexes.none();
    }

    /** New data, as ingest treats it: looked up, stored, and covered when the container is sealed. */
    private void fill() throws IOException {
        while (nextStored < chunks) {
            for (int i = 0; i < NumberedChunks.SEGMENT_CHUNKS; i++) {
                NumberedChunks.setFingerprint(segment, i, nextStored + i);
            }
            index.lookup(segment);
            for (int i = 0; i < NumberedChunks.SEGMENT_CHUNKS; i++) {
                segment.setChunkId(i, NumberedChunks.placeOf(nextStored++));
                segment.setFresh(i, true);
            }
            index.insert(segment);
            coverSealed();
        }
        index.flush();
    }

    private void coverSealed() throws IOException {
        if (nextStored % NumberedChunks.CONTAINER_CHUNKS == 0) {
            index.cover(NumberedChunks.containerOf(nextStored - 1), FRAME_TABLE);
        }
    }

    private long inShuffledSegments(long at) {
        long segments = chunks / NumberedChunks.SEGMENT_CHUNKS;
        long chosen = Math.floorMod(NumberedChunks.mix(at / NumberedChunks.SEGMENT_CHUNKS), segments);
        return chosen * NumberedChunks.SEGMENT_CHUNKS + at % NumberedChunks.SEGMENT_CHUNKS;
    }

    /** @param numbers maps the position in the stream to the number of a chunk */
    private void lookUp(LongUnaryOperator numbers) throws IOException {
        long[] asked = new long[NumberedChunks.SEGMENT_CHUNKS];
        for (long at = 0; at < lookups; at += asked.length) {
            for (int i = 0; i < asked.length; i++) {
                asked[i] = numbers.applyAsLong(at + i);
                NumberedChunks.setFingerprint(segment, i, asked[i]);
            }
            index.lookup(segment);
            count(asked);
        }
    }

    /** A backup of something that changed: chunks of an earlier stream, and new ones among them, which are stored. */
    private void drift(long from) throws IOException {
        long[] asked = new long[NumberedChunks.SEGMENT_CHUNKS];
        for (long at = 0; at < lookups; at += asked.length) {
            for (int i = 0; i < asked.length; i++) {
                boolean isNew = Math.floorMod(NumberedChunks.mix(~(at + i)), DRIFT) == 0;
                asked[i] = isNew ? nextUnknown++ : (from + at + i) % chunks;
                NumberedChunks.setFingerprint(segment, i, asked[i]);
            }
            index.lookup(segment);
            count(asked);
            for (int i = 0; i < asked.length; i++) {
                boolean isFresh = segment.hint(i) == ChunkId.NONE;
                segment.setFresh(i, isFresh);
                segment.setChunkId(i, isFresh ? NumberedChunks.placeOf(nextStored++) : segment.hint(i));
                if (isFresh) {
                    coverLater();
                }
            }
            index.insert(segment);
            coverDue();
        }
    }

    private long due;

    /** Remembers that the last chunk of a container got its place; its segment is not inserted yet. */
    private void coverLater() {
        if (nextStored % NumberedChunks.CONTAINER_CHUNKS == 0) {
            due = NumberedChunks.containerOf(nextStored - 1);
        }
    }

    private void coverDue() throws IOException {
        if (due != 0) {
            index.cover(due, FRAME_TABLE);
            due = 0;
        }
    }

    private void count(long[] asked) {
        for (int i = 0; i < asked.length; i++) {
            if (asked[i] < NumberedChunks.UNKNOWN) {
                stored++;
                found += segment.hint(i) == NumberedChunks.placeOf(asked[i]) ? 1 : 0;
            } else if (segment.hint(i) != ChunkId.NONE) {
                throw new AssertionError("the index knows a chunk that was not stored");
            }
        }
    }

    private void measure(String name, long count, Cost.Work work) throws IOException {
        stored = 0;
        found = 0;
        long reads = ProcessFigures.deviceBytesRead();
        long calls = ProcessFigures.readCalls();
        long writes = ProcessFigures.deviceBytesWritten();
        long begin = System.nanoTime();
        work.run();
        double seconds = (System.nanoTime() - begin) / 1e9;
        long readBytes = ProcessFigures.deviceBytesRead() - reads;
        long readCalls = ProcessFigures.readCalls() - calls;
        long written = ProcessFigures.deviceBytesWritten() - writes;
        Step step = new Step(
                name,
                count,
                seconds,
                stored == 0 ? -1 : 100.0 * found / stored,
                readBytes,
                readCalls,
                written,
                bytesOf(folder),
                ProcessFigures.usedMemoryBytes(),
                ProcessFigures.mostMemoryBytes());
        System.out.println(JSON.writeValueAsString(step));
    }

    private static long bytesOf(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.mapToLong(
                            file -> file.toFile().isFile() ? file.toFile().length() : 0)
                    .sum();
        }
    }
}
