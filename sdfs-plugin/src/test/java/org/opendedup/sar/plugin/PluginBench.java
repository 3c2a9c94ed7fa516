package org.opendedup.sar.plugin;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CyclicBarrier;
import org.opendedup.sdfs.filestore.ChunkData;

/**
 * Measures the plugin through its interface, as SDFS drives it: four writers, each of one file, and one reader. Run by
 * {@code scripts/bench plugin}. Prints one line a figure. Chunks and their fingerprints are made before the time is
 * taken: that is SDFS's work.
 */
public final class PluginBench {
    private static final int WRITERS = 4;
    private static final int CHUNK_BYTES = 16 << 10;
    private static final int BATCH = 2048;
    /** Makes the fingerprints: SHA-256 or MD5. */
    private static final String HASH = System.getProperty("plugin.hash", "SHA-256");

    private static final int HASH_BYTES = HASH.equals("MD5") ? 16 : 32;
    private static final int RECORD_BYTES = HASH_BYTES + Long.BYTES;

    private final Path folder;
    private final String attributes;

    private PluginBench(Path folder, String attributes) {
        this.folder = folder;
        this.attributes = attributes;
    }

    /**
     * @param arguments "write" or "read"; a folder; MiB to write, or how to read; optionally a folder for metadata and
     *     index
     */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[1]);
        String settings = "sar-memory-budget='1GB'";
        if (arguments.length > 3) {
            settings += " sar-metadata-location='" + arguments[3] + "/metadata' sar-index-location='" + arguments[3]
                    + "/index'";
        }
        switch (arguments[0]) {
            case "write" -> new PluginBench(folder, settings).write(Long.parseLong(arguments[2]));
            case "read" -> {
                boolean ahead = arguments[2].startsWith("ahead");
                new PluginBench(folder, settings + " sar-read-ahead='" + ahead + "'").read(arguments[2]);
            }
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    private SarChunkStore store;
    private SarHashesMap map;

    private void open() throws Exception {
        store = new SarChunkStore();
        store.init(Host.config(folder, "VARIABLE_" + HASH.replace("-", ""), attributes));
        map = new SarHashesMap();
        map.init(1 << 20, folder.toString(), 0.001);
    }

    private void close() {
        store.close();
        map.close();
    }

    /** Half of a chunk compresses. */
    static Chunk chunk(long number) {
        byte[] bytes = new byte[CHUNK_BYTES];
        SplittableRandom random = new SplittableRandom(number);
        byte[] noise = new byte[CHUNK_BYTES / 2];
        random.nextBytes(noise);
        System.arraycopy(noise, 0, bytes, 0, noise.length);
        return Chunk.of(bytes, HASH);
    }

    private void write(long mib) throws Exception {
        open();
        long batches = Math.max(1, (mib << 20) / CHUNK_BYTES / WRITERS / BATCH);
        List<ByteBuffer> lists = new ArrayList<>();
        List<long[]> nanos = new ArrayList<>();
        CyclicBarrier barrier = new CyclicBarrier(WRITERS);
        List<Thread> threads = new ArrayList<>();
        for (int writer = 0; writer < WRITERS; writer++) {
            ByteBuffer list = ByteBuffer.allocate((int) (batches * BATCH * RECORD_BYTES));
            long[] taken = new long[2];
            lists.add(list);
            nanos.add(taken);
            int own = writer;
            Thread thread = new Thread(() -> {
                try {
                    for (long batch = 0; batch < batches; batch++) {
                        writeBatch(own, batch * BATCH, barrier, list, taken);
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                    System.exit(1);
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        double mb = (double) batches * BATCH * WRITERS * CHUNK_BYTES / 1e6;
        for (int part = 0; part < 2; part++) {
            int at = part;
            double seconds = nanos.stream().mapToLong(taken -> taken[at]).max().getAsLong() / 1e9;
            System.out.printf("%s %.0f MB/s%n", part == 0 ? "new" : "duplicates", mb / seconds);
        }
        for (int writer = 0; writer < WRITERS; writer++) {
            Files.write(folder.resolve("file-" + writer), lists.get(writer).array());
        }
        System.out.printf("stored %.2f of what was written%n", store.compressedSize() / 1e6 / mb);
        close();
    }

    /** The syncs belong to the time: each of a file of 32 MiB. */
    private void writeBatch(int writer, long first, CyclicBarrier barrier, ByteBuffer list, long[] taken)
            throws Exception {
        Chunk[] chunks = new Chunk[BATCH];
        for (int i = 0; i < BATCH; i++) {
            chunks[i] = chunk(((long) writer << 40) + first + i);
        }
        for (int part = 0; part < 2; part++) {
            barrier.await();
            long start = System.nanoTime();
            for (Chunk chunk : chunks) {
                // The duplicates are a file of their own, as in a volume: a reader of one would leave its log.
                ChunkData data = chunk.data(1, (part == 0 ? "file " : "copy ") + writer);
                long location = Chunk.location(map.put(data));
                if (part == 0) {
                    list.put(chunk.hash()).putLong(location);
                }
            }
            store.sync();
            barrier.await();
            taken[part] += System.nanoTime() - start;
        }
    }

    /** @param how "alone" or "ahead": one reader; "alone-4", "ahead-4": one for each file; "random": single reads */
    private void read(String how) throws Exception {
        open();
        int readers = how.endsWith("-4") ? WRITERS : 1;
        List<ByteBuffer> lists = new ArrayList<>();
        for (int reader = 0; reader < readers; reader++) {
            lists.add(ByteBuffer.wrap(Files.readAllBytes(folder.resolve("file-" + reader))));
        }
        long[] reads = new long[readers];
        List<Thread> threads = new ArrayList<>();
        long start = System.nanoTime();
        for (int reader = 0; reader < readers; reader++) {
            int own = reader;
            Thread thread = new Thread(() -> {
                try {
                    reads[own] = readFile(lists.get(own), how.equals("random"));
                } catch (Exception e) {
                    e.printStackTrace();
                    System.exit(1);
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        long sum = Arrays.stream(reads).sum();
        System.out.printf(
                "read-%s %.1f MB/s, %.0f reads/s%n", how, (double) sum * CHUNK_BYTES / 1e6 / seconds, sum / seconds);
        close();
    }

    private long readFile(ByteBuffer list, boolean isRandom) throws Exception {
        int chunks = list.capacity() / RECORD_BYTES;
        SplittableRandom random = new SplittableRandom(7);
        int reads = isRandom ? Math.min(chunks, 300) : chunks;
        for (int i = 0; i < reads; i++) {
            list.position((isRandom ? random.nextInt(chunks) : i) * RECORD_BYTES);
            byte[] hash = new byte[HASH_BYTES];
            list.get(hash);
            if (map.getData(hash, list.getLong()).length != CHUNK_BYTES) {
                throw new IllegalStateException("chunk " + i);
            }
        }
        return reads;
    }
}
