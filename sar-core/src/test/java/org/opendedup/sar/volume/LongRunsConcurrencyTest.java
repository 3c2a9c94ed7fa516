package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/**
 * One file grows by more than is stored at a time, while other threads overwrite it, punch holes into it, copy into it
 * and out of it, and sync. The contents of a copy, and those after a power cut, are compared byte by byte with the data
 * written before the copy, and before an acknowledged sync.
 */
class LongRunsConcurrencyTest {
    private static final int ROUNDS = 2;
    private static final int MIB = 1 << 20;
    private static final int BLOCK = BlockHistory.BYTES;
    private static final int FILE_BLOCKS = 32 * MIB / BLOCK;
    /** Length of the file before. */
    private static final int MAX_STORED_BLOCKS = 12 * MIB / BLOCK;
    /** Bytes by which it grows at once: more than those being stored, those stored next, and a rest after them. */
    private static final int MIN_BURST_BLOCKS = 14 * MIB / BLOCK;

    private static final int MAX_BURST_BLOCKS = 20 * MIB / BLOCK;
    /** A burst fits in the share of the bytes that may be dirty. */
    private static final long MEMORY_BUDGET_BYTES = 400L * MIB;

    private static final int WRITE_BLOCKS = MIB / BLOCK;
    private static final int MAX_OVERWRITE_BLOCKS = (256 << 10) / BLOCK;
    private static final int SOURCE_BLOCKS = 2 * MIB / BLOCK;
    private static final int OVERWRITERS = 2;
    /** For all of them: the containers are in memory. */
    private static final long MAX_OVERWRITTEN_BYTES = 160L * MIB;

    private static final int MAX_PAUSE_MS = 300;

    /** Some work in a loop, until the file has its length or the power is cut. */
    private interface Step {
        void run(SplittableRandom random) throws IOException;
    }

    private interface Work {
        void run() throws IOException;
    }

    /** One volume's life, from being made to a power cut. */
    private static final class Round {
        private final SplittableRandom random;
        private final BlockHistory history = new BlockHistory(FILE_BLOCKS);
        private final long[] sourceContents = history.newContents(SOURCE_BLOCKS);
        private final VolumeInMemory stores;
        private final Volume volume;
        private final OpenFile file;
        private final OpenFile source;
        private final AtomicLong overwritten = new AtomicLong();
        private final AtomicReference<String> problem = new AtomicReference<>();
        /** The bytes that acknowledged syncs promise. */
        private final long[] synced = new long[FILE_BLOCKS];
        /** Number of blocks of the file. */
        private volatile int length;

        /** Whether the other threads have begun. */
        private volatile boolean growing;

        private volatile boolean ended;
        private volatile boolean powerIsOff;
        /** The state after the power cut, once it happened. */
        private @Nullable VolumeInMemory left;

        Round(long seed, Chunking chunking) throws IOException {
            random = new SplittableRandom(seed);
            stores = VolumeInMemory.create(
                    VolumeConfigs.in(Path.of("in memory"), 10L << 30, chunking).withMemoryBudget(MEMORY_BUDGET_BYTES),
                    seed);
            volume = stores.open();
            file = volume.open(make("file"), true);
            source = volume.open(make("source"), true);
            volume.write(source, 0, BlockHistory.bytesOf(sourceContents));
            volume.sync();
        }

        private long make(String name) throws IOException {
            return volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                    .inode();
        }

        /** Reports what was wrong. */
        Optional<String> run() throws Exception {
            ExecutorService threads = Executors.newCachedThreadPool();
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < OVERWRITERS; i++) {
                running.add(threads.submit(repeat(this::overwrite)));
            }
            for (Step step : List.<Step>of(this::punch, this::copyInto, this::copyOut, this::syncAndPause)) {
                running.add(threads.submit(repeat(step)));
            }
            threads.submit(guarded(this::grow)).get();
            ended = true;
            for (Future<?> one : running) {
                one.get();
            }
            threads.shutdown();
            if (!powerIsOff) {
                check("the file has", volume, history.returned());
                sync(random);
                cutPower();
            }
            VolumeInMemory.abandon(volume);
            try (Volume found = Objects.requireNonNull(left).open()) {
                check("after a crash the file has", found, synced);
            }
            return Optional.ofNullable(problem.get());
        }

        private void check(String what, Volume shown, long[] least) throws IOException {
            note(what, history.problem(contents(shown, file.inode()), least));
            List<String> problems = VolumeChecker.check(shown);
            note(what, problems.isEmpty() ? Optional.empty() : Optional.of(problems.toString()));
        }

        private void note(String what, Optional<String> found) {
            found.ifPresent(text -> problem.compareAndSet(null, what + " wrong bytes: " + text));
        }

        /** As far as the file has any, of all bytes that it may have. */
        private static byte[] contents(Volume shown, long inode) throws IOException {
            OpenFile opened = shown.open(inode, false);
            byte[] bytes = new byte[FILE_BLOCKS * BLOCK];
            shown.read(opened, 0, ByteBuffer.wrap(bytes));
            shown.close(opened);
            return bytes;
        }

        private Runnable repeat(Step step) {
            SplittableRandom own = random.split();
            return guarded(() -> {
                while (!ended && problem.get() == null) {
                    if (growing) {
                        step.run(own);
                    } else {
                        pause(own);
                    }
                }
            });
        }

        /** Without power every call fails. */
        private Runnable guarded(Work work) {
            return () -> {
                try {
                    work.run();
                } catch (IOException | RuntimeException e) {
                    if (!powerIsOff) {
                        problem.compareAndSet(null, "a call failed: " + e);
                    }
                }
            };
        }

        /** Faster than it can be stored; then requests storing all of it at once. */
        private void grow() throws IOException {
            append(random.nextInt(MAX_STORED_BLOCKS));
            volume.sync(file);
            growing = true;
            append(random.nextInt(MIN_BURST_BLOCKS, MAX_BURST_BLOCKS));
            if (random.nextBoolean()) {
                copyOut(random);
            } else {
                sync(random);
                cutPower();
            }
        }

        private void append(int count) throws IOException {
            long[] contents = history.newContents(count);
            ByteBuffer bytes = BlockHistory.bytesOf(contents);
            for (int at = 0; at < count; at += WRITE_BLOCKS) {
                int to = Math.min(at + WRITE_BLOCKS, count);
                BlockHistory.Write write = history.write(length, Arrays.copyOfRange(contents, at, to));
                volume.write(file, (long) length * BLOCK, bytes.slice(at * BLOCK, (to - at) * BLOCK));
                write.end();
                length += to - at;
            }
        }

        /** Mostly in the last MiB of the written bytes, where the file is dirty. */
        private void overwrite(SplittableRandom own) throws IOException {
            if (overwritten.get() > MAX_OVERWRITTEN_BYTES) {
                pause(own);
                return;
            }
            int count = own.nextInt(1, MAX_OVERWRITE_BLOCKS);
            overwritten.addAndGet((long) count * BLOCK);
            int first = place(own, count);
            BlockHistory.Write write = history.write(first, count);
            volume.write(file, (long) first * BLOCK, write.bytes());
            write.end();
        }

        private int place(SplittableRandom own, int count) {
            int end = Math.max(1, length - count);
            int from = own.nextInt(3) == 0 ? 0 : Math.max(0, end - MAX_BURST_BLOCKS);
            return own.nextInt(from, end);
        }

        private void punch(SplittableRandom own) throws IOException {
            int count = own.nextInt(1, MAX_OVERWRITE_BLOCKS);
            int first = place(own, count);
            BlockHistory.Write write = history.zero(first, count);
            volume.zero(file, (long) first * BLOCK, (long) count * BLOCK, true);
            write.end();
            pause(own);
        }

        private void copyInto(SplittableRandom own) throws IOException {
            int count = own.nextInt(1, MAX_OVERWRITE_BLOCKS);
            int from = own.nextInt(SOURCE_BLOCKS - count);
            int first = place(own, count);
            BlockHistory.Write write = history.write(first, Arrays.copyOfRange(sourceContents, from, from + count));
            volume.copy(source, (long) from * BLOCK, file, (long) first * BLOCK, (long) count * BLOCK);
            write.end();
            pause(own);
        }

        private void copyOut(SplittableRandom own) throws IOException {
            String name = "copy" + own.nextLong();
            long inode = make(name);
            OpenFile copy = volume.open(inode, true);
            long[] least = history.returned();
            volume.copy(file, 0, copy, 0, (long) FILE_BLOCKS * BLOCK);
            volume.close(copy);
            note("a copy has", history.problem(contents(volume, inode), least));
            volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
            volume.forget(inode, 1);
            pause(own);
        }

        /** Bytes written before are kept from now on. */
        private void sync(SplittableRandom own) throws IOException {
            long[] least = history.returned();
            volume.sync(file);
            synchronized (this) {
                Arrays.setAll(synced, block -> Math.max(synced[block], least[block]));
            }
        }

        private void syncAndPause(SplittableRandom own) throws IOException {
            sync(own);
            pause(own);
        }

        private synchronized void cutPower() throws IOException {
            if (!powerIsOff) {
                powerIsOff = true;
                left = stores.crash(random.nextLong());
                ended = true;
            }
        }

        private static void pause(SplittableRandom own) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(own.nextInt(MAX_PAUSE_MS)));
        }
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void whatWasWrittenBeforeASyncOrACopyIsThere() throws Exception {
        SplittableRandom seeds = new SplittableRandom(TestSeed.next());
        int rounds = TestSeed.rounds(ROUNDS);
        for (int round = 1; round <= rounds; round++) {
            Chunking chunking = Chunking.values()[round % Chunking.values().length];
            Optional<String> problem = new Round(seeds.nextLong(), chunking).run();
            int number = round;
            assertEquals(Optional.empty(), problem, () -> "round " + number + ", " + chunking);
        }
    }
}
