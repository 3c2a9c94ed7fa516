package org.opendedup.sar.plugin;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.opendedup.sdfs.filestore.ChunkData;

/**
 * Measures a series of backups through the plugin's interface, as SDFS drives it: generations of two streams, each
 * generation in files of its own, with scattered changes, insertions and deletions, and a part that both streams share.
 * The last generation refers to chunks of all before it. Run by {@code scripts/bench plugin}.
 */
public final class PluginSeries {
    private static final int STREAMS = 2;
    private static final int GENERATIONS = 8;
    private static final int CHUNK_BYTES = 16 << 10;
    /**
     * Chunks of a page of SDFS, 256 KiB: it writes eight pages at once, and reads the chunks of a page side by side.
     */
    private static final int PAGE = 16;

    private static final int PAGE_THREADS = 8;
    /** Pages between the last and the first that are being written: a real SDFS had chunks up to 3.8 MB apart. */
    private static final int PAGES_APART = 16;

    private static final int RECORD_BYTES = 40;

    /** Number of blocks of chunks of which one is the same in both streams. */
    private static final int SHARED = 8;

    private static final int BLOCK = 64;

    /** Of a thousand chunks, places where a change begins; a change has 1 to 7 chunks, so that 5 % change. */
    private static final int CHANGES = 12;

    private final Path folder;
    private SarChunkStore store;
    private SarHashesMap map;

    private PluginSeries(Path folder) {
        this.folder = folder;
    }

    /**
     * @param arguments "write" or "read"; a folder; MiB of a generation of a stream, or how to read: "alone" or
     *     "ahead", with "-paged" for the threads of SDFS's pages; a folder for metadata and index; for reads the
     *     generation, from 0
     */
    public static void main(String[] arguments) throws Exception {
        String settings = "sar-memory-budget='1GB' sar-metadata-location='" + arguments[3]
                + "/metadata' sar-index-location='" + arguments[3] + "/index'";
        PluginSeries series = new PluginSeries(Path.of(arguments[1]));
        boolean isWrite = arguments[0].equals("write");
        series.open(settings + " sar-read-ahead='" + (isWrite || arguments[2].startsWith("ahead")) + "'");
        if (isWrite) {
            series.write((int) ((Long.parseLong(arguments[2]) << 20) / CHUNK_BYTES));
        } else {
            series.read(arguments[2], Integer.parseInt(arguments[4]));
        }
        series.store.close();
        series.map.close();
    }

    private void open(String settings) throws Exception {
        store = new SarChunkStore();
        store.init(Host.config(folder, settings));
        map = new SarHashesMap();
        map.init(1 << 20, folder.toString(), 0.001);
    }

    private static long[] first(int stream, int chunks) {
        long[] numbers = new long[chunks];
        for (int i = 0; i < chunks; i++) {
            int owner = i / BLOCK % SHARED == 0 ? STREAMS : stream;
            numbers[i] = ((long) owner << 40) + i;
        }
        return numbers;
    }

    private static long[] next(long[] before, int stream, int generation) {
        SplittableRandom random = new SplittableRandom(stream * 100L + generation);
        long fresh = ((long) stream << 40) + ((long) generation << 32);
        List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < before.length; ) {
            int dice = random.nextInt(1000);
            if (dice < CHANGES) {
                int length = 1 + random.nextInt(7);
                for (int j = 0; j < length; j++) {
                    numbers.add(fresh++);
                }
                i += length;
            } else if (dice == CHANGES) {
                numbers.add(fresh++);
            } else if (dice == CHANGES + 1) {
                i++;
            } else {
                numbers.add(before[i++]);
            }
        }
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }

    private void write(int chunks) throws Exception {
        long[][] numbers = new long[STREAMS][];
        long written = 0;
        LongAdder nanos = new LongAdder();
        for (int generation = 0; generation < GENERATIONS; generation++) {
            for (int stream = 0; stream < STREAMS; stream++) {
                numbers[stream] = generation == 0 ? first(stream, chunks) : next(numbers[stream], stream, generation);
                written += numbers[stream].length;
            }
            int now = generation;
            run(STREAMS, stream -> writeFile(numbers[stream], stream, now, nanos));
            store.sync();
        }
        System.out.printf(
                "series of %d generations of %d streams, %.0f MB each; stored %.2f of it; %.0f us a put%n",
                GENERATIONS,
                STREAMS,
                (double) chunks * CHUNK_BYTES / 1e6,
                (double) store.compressedSize() / written / CHUNK_BYTES,
                nanos.sum() / 1e3 / written);
    }

    private Path list(int stream, int generation) {
        return folder.resolve("series-" + stream + "-" + generation);
    }

    /** Writes the pages of a file by several threads; none is more than {@link #PAGES_APART} pages before another. */
    private void writeFile(long[] numbers, int stream, int generation, LongAdder nanos) throws Exception {
        ByteBuffer list = ByteBuffer.allocate(numbers.length * RECORD_BYTES);
        int pages = (numbers.length + PAGE - 1) / PAGE;
        AtomicInteger nextPage = new AtomicInteger();
        NavigableSet<Integer> unfinished = new TreeSet<>();
        run(PAGE_THREADS, thread -> {
            for (int page = nextPage.getAndIncrement(); page < pages; page = nextPage.getAndIncrement()) {
                synchronized (unfinished) {
                    unfinished.add(page);
                    while (page - unfinished.first() > PAGES_APART) {
                        unfinished.wait();
                    }
                }
                for (int i = page * PAGE; i < Math.min(numbers.length, page * PAGE + PAGE); i++) {
                    Chunk chunk = PluginBench.chunk(numbers[i]);
                    ChunkData data = chunk.data(1, "stream " + stream + " generation " + generation);
                    long start = System.nanoTime();
                    long location = Chunk.location(map.put(data));
                    nanos.add(System.nanoTime() - start);
                    list.put(i * RECORD_BYTES, chunk.hash());
                    list.putLong(i * RECORD_BYTES + chunk.hash().length, location);
                }
                synchronized (unfinished) {
                    unfinished.remove(page);
                    unfinished.notifyAll();
                }
            }
        });
        Files.write(list(stream, generation), list.array());
    }

    private void read(String how, int generation) throws Exception {
        ByteBuffer list = ByteBuffer.wrap(Files.readAllBytes(list(0, generation)));
        int chunks = list.capacity() / RECORD_BYTES;
        long start = System.nanoTime();
        if (how.endsWith("-paged")) {
            readPages(list, chunks);
        } else {
            for (int i = 0; i < chunks; i++) {
                readChunk(list, i);
            }
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf(
                "series-%s generation %d: %.1f MB/s, %.1f s%n",
                how, generation, (double) chunks * CHUNK_BYTES / 1e6 / seconds, seconds);
    }

    /** Reads page after page; the chunks of a page, each once, by several threads, in any order. */
    private void readPages(ByteBuffer list, int chunks) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(PAGE_THREADS);
        Random random = new Random(7);
        for (int page = 0; page < chunks; page += PAGE) {
            List<Integer> wanted = new ArrayList<>();
            LinkedHashSet<ByteBuffer> known = new LinkedHashSet<>();
            for (int i = page; i < Math.min(chunks, page + PAGE); i++) {
                if (known.add(list.slice(i * RECORD_BYTES, RECORD_BYTES))) {
                    wanted.add(i);
                }
            }
            Collections.shuffle(wanted, random);
            List<Future<?>> reads = new ArrayList<>();
            for (int i : wanted) {
                reads.add(threads.submit(() -> {
                    readChunk(list, i);
                    return null;
                }));
            }
            for (Future<?> read : reads) {
                read.get();
            }
        }
        threads.shutdown();
    }

    private void readChunk(ByteBuffer list, int i) throws Exception {
        byte[] hash = new byte[32];
        list.get(i * RECORD_BYTES, hash);
        byte[] bytes = map.getData(hash, list.getLong(i * RECORD_BYTES + hash.length));
        if (bytes.length != CHUNK_BYTES) {
            throw new IllegalStateException("chunk " + i);
        }
    }

    /** What a thread does. */
    private interface Part {
        void run(int number) throws Exception;
    }

    private static void run(int threads, Part part) throws Exception {
        ExecutorService all = Executors.newFixedThreadPool(threads);
        List<Future<?>> parts = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int number = i;
            parts.add(all.submit(() -> {
                part.run(number);
                return null;
            }));
        }
        for (Future<?> running : parts) {
            running.get();
        }
        all.shutdown();
    }
}
