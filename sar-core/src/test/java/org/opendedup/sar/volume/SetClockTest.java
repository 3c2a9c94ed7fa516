package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;

/** The time of day is set back and forth, or stands still, while a volume is in use. */
@Timeout(120)
class SetClockTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 1L << 30, Chunking.VARIABLE_SHA256);
    private CrashDirectory containers = new CrashDirectory(1);
    private CrashKeyValueStore metadata = new CrashKeyValueStore();
    private volatile Instant now = START;

    private Volume open() throws IOException {
        return Volume.open(
                config,
                new VolumeStores(containers, metadata, new HeapChunkIndex(), () -> now),
                Verification.CHECKSUMS);
    }

    private static long nanos(Instant time) {
        return time.getEpochSecond() * 1_000_000_000L + time.getNano();
    }

    /** Days by which the clock is set: a day back, not at all (it stands still), ten years forward, before 1970. */
    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 3652, -25_000})
    void timeStampsAreTheClocksAndNothingElseDependsOnIt(int days) throws IOException {
        Volume.create(config, containers, metadata, () -> now);
        Instant set = START.plus(Duration.ofDays(days));
        byte[] first = "written before the clock was set".getBytes(UTF_8);
        byte[] second = "written afterwards, by the time that it shows now".getBytes(UTF_8);
        long inode;
        try (Volume volume = open()) {
            inode = volume.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                    .inode();
            write(volume, inode, first);
            now = set;
            write(volume, inode, second);
            Attributes written = volume.attributes(inode);
            assertEquals(nanos(set), written.modifiedNs(), "POSIX: a write sets the time that the clock shows");
            assertEquals(nanos(set), written.changedNs());
            now = START;
            assertEquals(
                    nanos(START),
                    volume.change(inode, AttributeChange.ofMode(0600)).changedNs());
            assertEquals(nanos(set), volume.attributes(inode).modifiedNs(), "a change of mode leaves it");
            now = set;
            ScrubRecord scrub = volume.maintenance().scrub().run((done, rest, next) -> true);
            assertEquals(set.toEpochMilli(), scrub.endedMs());
            assertTrue(scrub.isComplete());
            assertNotNull(volume.maintenance().scrub().last());
            now = START;
        }
        now = set;
        try (Volume volume = open()) {
            assertEquals(
                    nanos(set),
                    volume.lookup(Inode.ROOT, "file".getBytes(UTF_8)).modifiedNs());
            assertArrayEquals(second, read(volume, inode, second.length));
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
    }

    /** What is written is stored and committed in time by a clock that nobody can set: of four commits, one has it. */
    @Test
    void aClockThatGoesBackAllTheTimeDoesNotDelayTheCommit() throws Exception {
        Volume.create(config, containers, metadata, () -> now);
        byte[] data = {1, 2, 3};
        System.setProperty("sar.commit.period.ms", "100");
        long inode;
        try (Volume volume = open()) {
            inode = volume.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                    .inode();
            // The commit of a new name would store the bytes, old or not.
            volume.commit();
            OpenFile file = volume.open(inode, true);
            volume.write(file, 0, ByteBuffer.wrap(data));
            long before = volume.context().committer().commits();
            for (int other = 0; volume.context().committer().commits() < before + 4; other++) {
                now = now.minus(Duration.ofHours(1));
                // A commit without a change is none.
                volume.makeNode(Inode.ROOT, ("other" + other).getBytes(UTF_8), 0100644, 0, new Owner(0, 0));
                Thread.sleep(20);
            }
            assertEquals(0, volume.statistics().dirtyBytes());
            volume.close(file);
            metadata = metadata.crash(1);
            containers = containers.crash(1);
            VolumeInMemory.abandon(volume);
        } finally {
            System.clearProperty("sar.commit.period.ms");
        }
        try (Volume volume = open()) {
            assertArrayEquals(data, read(volume, inode, data.length));
        }
    }

    private static void write(Volume volume, long inode, byte[] data) throws IOException {
        OpenFile file = volume.open(inode, true);
        try {
            volume.write(file, 0, ByteBuffer.wrap(data));
            volume.sync(file);
        } finally {
            volume.close(file);
        }
    }

    private static byte[] read(Volume volume, long inode, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        OpenFile file = volume.open(inode, false);
        try {
            volume.read(file, 0, target);
        } finally {
            volume.close(file);
        }
        return target.array();
    }
}
