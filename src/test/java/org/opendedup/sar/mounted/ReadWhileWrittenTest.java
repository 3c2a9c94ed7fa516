package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.volume.VersionedBlocks;

/**
 * A file is read in sequence, past the kernel's page cache, while it is overwritten and extended through that cache.
 */
@Timeout(120)
class ReadWhileWrittenTest {
    private static final int MIB = 1 << 20;
    private static final int BLOCK = VersionedBlocks.BYTES;
    private static final int FIRST_BYTES = 12 * MIB;
    private static final int LAST_BYTES = 20 * MIB;
    private static final int MAX_WRITE_BLOCKS = 200;
    private static final int REQUEST = 128 << 10;
    private static final int PAGE = 4096;

    @TempDir
    Path folder;

    private final long seed = TestSeed.next();
    private final VersionedBlocks blocks = new VersionedBlocks(LAST_BYTES / BLOCK);
    private Path file;

    @Test
    void readersInSequenceSeeWhatWasWrittenBefore() throws Exception {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("volume")))
                .mount()) {
            file = volume.mountPoint().resolve("file");
            append(0, FIRST_BYTES, MIB / BLOCK);
            AtomicBoolean ended = new AtomicBoolean();
            FutureTask<Void> overwriting = start(() -> overwrite(ended));
            FutureTask<Void> appending = start(() -> append(FIRST_BYTES, LAST_BYTES, MAX_WRITE_BLOCKS));
            List<FutureTask<Void>> readers = List.of(start(this::readThrough), start(this::readThrough));
            try {
                for (FutureTask<Void> reader : readers) {
                    reader.get();
                }
            } finally {
                ended.set(true);
            }
            overwriting.get();
            appending.get();
            volume.unmount();
            assertEquals(List.of(), Recount.problems(volume));
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static FutureTask<Void> start(Work work) {
        FutureTask<Void> task = new FutureTask<>(() -> {
            work.run();
            return null;
        });
        new Thread(task).start();
        return task;
    }

    private void write(FileChannel channel, int first, int count) throws IOException {
        ByteBuffer bytes = blocks.begin(first, count);
        long at = (long) first * BLOCK;
        while (bytes.hasRemaining()) {
            at += channel.write(bytes, at);
        }
        blocks.end(first, count);
    }

    private void append(int from, int to, int mostBlocks) throws IOException {
        Random random = new Random(seed);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (int at = from / BLOCK, count; at < to / BLOCK; at += count) {
                count = Math.min(1 + random.nextInt(mostBlocks), to / BLOCK - at);
                write(channel, at, count);
            }
            channel.force(false);
        }
    }

    private void overwrite(AtomicBoolean ended) throws IOException {
        Random random = new Random(seed + 1);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            while (!ended.get()) {
                int count = 1 + random.nextInt(MAX_WRITE_BLOCKS);
                write(channel, random.nextInt(FIRST_BYTES / BLOCK - count), count);
            }
        }
    }

    private void readThrough() throws IOException {
        ByteBuffer target = ByteBuffer.allocateDirect(REQUEST + PAGE).alignedSlice(PAGE);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT)) {
            for (int at = 0, read = REQUEST; read == REQUEST && at < LAST_BYTES; at += REQUEST) {
                int first = at / BLOCK;
                long[] before = blocks.versions(first, REQUEST / BLOCK);
                read = channel.read(target.clear().limit(REQUEST), at);
                int offset = at;
                assertTrue(blocks.isUpToDate(target.flip(), first, before), () -> "stale or mixed bytes at " + offset);
                int whole = Math.max(0, read) / BLOCK;
                assertTrue(whole == before.length || before[whole] == 0, () -> "a short read at " + offset);
            }
        }
    }
}
