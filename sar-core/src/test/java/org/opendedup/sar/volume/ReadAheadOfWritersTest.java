package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** Files are written while a sequential reader reads ahead: each read returns the bytes written before it. */
@Timeout(120)
class ReadAheadOfWritersTest {
    private static final int MIB = 1 << 20;
    private static final int BLOCK = VersionedBlocks.BYTES;
    private static final int FIRST_BYTES = 24 * MIB;
    private static final int LAST_BYTES = 40 * MIB;
    private static final int MAX_WRITE_BLOCKS = 200;
    private static final int READERS = 2;
    private static final int ROUNDS = 2;
    private static final int REQUEST = 64 << 10;
    /** For 20 MiB, which are 320 requests of a reader. */
    private static final int MAX_DISK_READS = 60;

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final VersionedBlocks blocks = new VersionedBlocks(LAST_BYTES / BLOCK);
    private Volume volume;
    private long inode;

    @BeforeEach
    void make() throws IOException {
        VolumeConfig config = VolumeConfigs.in(folder, 1L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        volume = Volume.open(config);
        inode = volume.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
    }

    @AfterEach
    void checkAndClose() throws IOException {
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.close();
    }

    /** Writes the next version of some blocks. Each block has one writer. */
    private void write(OpenFile file, int first, int count) throws IOException {
        volume.write(file, (long) first * BLOCK, blocks.begin(first, count));
        blocks.end(first, count);
    }

    /** Reads a request in sequence and checks it. Returns its bytes. */
    private int readAndCheck(OpenFile file, int offset) throws IOException {
        int first = offset / BLOCK;
        long[] before = blocks.versions(first, Math.min(REQUEST, LAST_BYTES - offset) / BLOCK);
        ByteBuffer target = ByteBuffer.allocate(REQUEST);
        int read = volume.read(file, offset, target);
        assertTrue(blocks.isUpToDate(target.flip(), first, before), () -> "stale or mixed bytes behind " + offset);
        assertTrue(read / BLOCK >= before.length || before[read / BLOCK] == 0, () -> "short read at " + offset);
        return read;
    }

    private void readThrough() throws IOException {
        OpenFile file = volume.open(inode, false);
        for (int round = 0; round < ROUNDS; round++) {
            for (int at = 0, read = REQUEST; read == REQUEST && at < LAST_BYTES; at += REQUEST) {
                read = readAndCheck(file, at);
            }
        }
        volume.close(file);
    }

    private Void overwrite(AtomicBoolean ended) throws IOException {
        Random random = new Random(seed);
        OpenFile file = volume.open(inode, true);
        while (!ended.get()) {
            int count = 1 + random.nextInt(MAX_WRITE_BLOCKS);
            write(file, random.nextInt(FIRST_BYTES / BLOCK - count), count);
        }
        volume.close(file);
        return null;
    }

    private Void append() throws IOException {
        Random random = new Random(seed + 1);
        OpenFile file = volume.open(inode, true);
        for (int at = FIRST_BYTES / BLOCK, count; at < LAST_BYTES / BLOCK; at += count) {
            count = Math.min(1 + random.nextInt(MAX_WRITE_BLOCKS), LAST_BYTES / BLOCK - at);
            write(file, at, count);
        }
        volume.close(file);
        return null;
    }

    @Test
    void readersInSequenceSeeWhatWasWrittenBefore() throws Exception {
        appendAndSync(0, FIRST_BYTES);
        AtomicBoolean ended = new AtomicBoolean();
        List<FutureTask<Void>> writers =
                List.of(new FutureTask<>(() -> overwrite(ended)), new FutureTask<>(this::append));
        writers.forEach(writer -> new Thread(writer).start());
        List<FutureTask<Void>> readers = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
            readers.add(new FutureTask<>(() -> {
                readThrough();
                return null;
            }));
            new Thread(readers.get(i)).start();
        }
        try {
            for (FutureTask<Void> reader : readers) {
                reader.get();
            }
        } finally {
            ended.set(true);
        }
        for (FutureTask<Void> writer : writers) {
            writer.get();
        }
        assertTrue(volume.context().restore().memory().mostBytes() > 0, "nothing was read ahead");
    }

    @Test
    void theControlOldBytesAreAccused() throws IOException {
        appendAndSync(0, MIB);
        OpenFile file = volume.open(inode, true);
        ByteBuffer old = ByteBuffer.allocate(REQUEST);
        volume.read(file, 0, old);
        assertTrue(blocks.isUpToDate(old.flip(), 0, blocks.versions(0, REQUEST / BLOCK)));
        write(file, 3, 1);
        assertFalse(blocks.isUpToDate(old.rewind(), 0, blocks.versions(0, REQUEST / BLOCK)));
        volume.close(file);
    }

    private void appendAndSync(int from, int to) throws IOException {
        append(from, to);
        volume.sync();
    }

    private void append(int from, int to) throws IOException {
        OpenFile file = volume.open(inode, true);
        for (int at = from; at < to; at += MIB) {
            write(file, at / BLOCK, Math.min(MIB, to - at) / BLOCK);
        }
        volume.close(file);
    }

    /** Continues reading, and returns the number of requests for which the disk was read. */
    private long diskReads(OpenFile file, int from, int to) throws IOException {
        long before = volume.statistics().diskReads();
        for (int at = from; at < to; at += REQUEST) {
            readAndCheck(file, at);
        }
        return volume.statistics().diskReads() - before;
    }

    @Test
    void whatIsAppendedIsReadAheadToo() throws IOException {
        appendAndSync(0, 8 * MIB);
        OpenFile reader = volume.open(inode, false);
        diskReads(reader, 0, 4 * MIB);
        appendAndSync(8 * MIB, FIRST_BYTES);
        long reads = diskReads(reader, 4 * MIB, FIRST_BYTES);
        volume.close(reader);
        assertTrue(reads < MAX_DISK_READS, () -> reads + " requests");
    }

    /** The recipe has nothing of the file's end when it is looked up, and has it when the reader arrives there. */
    @Test
    void whatIsStoredLateIsReadAheadToo() throws IOException {
        appendAndSync(0, 4 * MIB + 100 * BLOCK);
        OpenFile reader = volume.open(inode, false);
        diskReads(reader, 0, 2 * MIB);
        append(4 * MIB + 100 * BLOCK, 14 * MIB + 100 * BLOCK);
        diskReads(reader, 2 * MIB, 3 * MIB);
        volume.sync();
        appendAndSync(14 * MIB + 100 * BLOCK, FIRST_BYTES);
        long reads = diskReads(reader, 3 * MIB, FIRST_BYTES);
        volume.close(reader);
        assertTrue(reads < MAX_DISK_READS, () -> reads + " requests");
    }

    @Test
    void whatIsOverwrittenIsReadAheadAgain() throws IOException {
        appendAndSync(0, FIRST_BYTES);
        OpenFile reader = volume.open(inode, false);
        diskReads(reader, 0, 4 * MIB);
        appendAndSync(0, FIRST_BYTES);
        long reads = diskReads(reader, 4 * MIB, FIRST_BYTES);
        volume.close(reader);
        assertTrue(reads < MAX_DISK_READS, () -> reads + " requests");
    }
}
