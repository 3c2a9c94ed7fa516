package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/**
 * Pairs of files that share chunks, written, promoted and read back: the load that an SSD serves. Between the shared
 * chunks each file has chunks of its own, so that no run is long.
 */
final class SsdLoad {
    static final int SHARED_CHUNKS = 64;
    private static final int CHUNK = 4096;
    private static final int CHUNKS = 2 * SHARED_CHUNKS;
    private static final long LIMIT_SECONDS = 60;

    private final MountedVolume volume;
    /** Pairs that were not read back completely yet. */
    private final List<Long> unread = Collections.synchronizedList(new ArrayList<>());

    private volatile Path ssd;
    private long nextPair = 1;

    SsdLoad(MountedVolume volume) {
        this.volume = volume;
    }

    /** Tells where the SSD is now: its files are read past the kernel's cache, too. */
    void isServedBy(Path folder) {
        ssd = folder;
    }

    /** Writes pairs whose chunks no other file has. */
    List<Long> write(int count) throws IOException {
        List<Long> written = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long pair = nextPair++;
            Bytes.writeAndSync(first(pair), content(pair, 1));
            Bytes.writeAndSync(second(pair), content(pair, 2));
            unread.add(pair);
            written.add(pair);
        }
        return written;
    }

    private Path first(long pair) {
        return volume.mountPoint().resolve("pair" + pair + "-1");
    }

    private Path second(long pair) {
        return volume.mountPoint().resolve("pair" + pair + "-2");
    }

    private static byte[] content(long pair, int file) {
        byte[] shared = Bytes.random(3 * pair, SHARED_CHUNKS * CHUNK);
        byte[] own = Bytes.random(3 * pair + file, SHARED_CHUNKS * CHUNK);
        return alternating(shared, own);
    }

    /** A chunk of one, a chunk of the other, and so on: so no chunks are in a long run. */
    private static byte[] alternating(byte[] shared, byte[] own) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (int at = 0; at < shared.length; at += CHUNK) {
            content.write(shared, at, CHUNK);
            content.write(own, at, CHUNK);
        }
        return content.toByteArray();
    }

    /** Reads every file written since the last call from the volume's own store, and checks every byte. */
    void assertAllRight() throws IOException {
        dropKernelCaches();
        for (long pair : List.copyOf(unread)) {
            assertEquals(new Bytes.Comparison(CHUNKS, 0, 0), Bytes.compare(first(pair), content(pair, 1)));
            assertEquals(new Bytes.Comparison(CHUNKS, 0, 0), Bytes.compare(second(pair), content(pair, 2)));
            unread.remove(pair);
        }
    }

    /**
     * Of this mount and of the SSD, of synced data: a sync of everything would wait for disks that are made to fail.
     */
    void dropKernelCaches() throws IOException {
        volume.dropKernelCaches();
        Commands.run("find", ssd, "-type", "f", "-exec", "dd", "if={}", "iflag=nocache", "count=0", "status=none", ";");
    }

    /**
     * Reads the second files of some pairs, past the kernel's cache, chunk by chunk in random order: without
     * read-ahead.
     */
    void read(List<Long> some) throws IOException {
        dropKernelCaches();
        for (long pair : some) {
            readShuffled(second(pair), content(pair, 2), pair);
        }
    }

    private static void readShuffled(Path file, byte[] expected, long seed) throws IOException {
        List<Integer> places = new ArrayList<>();
        for (int i = 0; i < CHUNKS; i++) {
            places.add(i * CHUNK);
        }
        Collections.shuffle(places, new Random(seed));
        ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            for (int at : places) {
                chunk.clear();
                int got = channel.read(chunk, at);
                assertEquals(CHUNK, got, file::toString);
                assertTrue(Arrays.equals(chunk.array(), 0, CHUNK, expected, at, at + CHUNK), () -> file + " at " + at);
            }
        }
    }

    /** An action on the SSD, or a wait for it. */
    interface Step {
        void run() throws Exception;
    }

    /** Reads some pairs repeatedly and writes others, from before a step until after it; all of it must succeed. */
    void runDuring(List<Long> read, Step step) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            Repeated reading = new Repeated(() -> read(read));
            Repeated writing = new Repeated(() -> write(1));
            Future<?> reader = threads.submit(reading);
            Future<?> writer = threads.submit(writing);
            reading.awaitRounds(1, reader);
            writing.awaitRounds(1, writer);
            step.run();
            reading.awaitRounds(2, reader);
            writing.awaitRounds(2, writer);
            reading.stop = true;
            writing.stop = true;
            reader.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            writer.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } finally {
            threads.shutdownNow();
        }
    }

    private static final class Repeated implements java.util.concurrent.Callable<Long> {
        private final Step step;
        private volatile long rounds;
        private volatile boolean stop;

        Repeated(Step step) {
            this.step = step;
        }

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
        public Long call() throws Exception {
            while (!stop) {
                step.run();
                rounds++;
                // What is waited for needs the processor, too.
                Thread.sleep(20);
            }
            return rounds;
        }

        /** Waits until this number of further whole rounds is done. */
        void awaitRounds(int more, Future<?> work) throws Exception {
            long wanted = rounds + more;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
            while (rounds < wanted) {
                if (work.isDone()) {
                    work.get();
                }
                assertTrue(System.nanoTime() < deadline, "no round ends");
                Thread.sleep(5);
            }
        }
    }
}
