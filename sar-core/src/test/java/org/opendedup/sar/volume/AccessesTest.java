package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.names.AccessTimes;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;

class AccessesTest {
    private static final long NANOS = 1_000_000_000L;

    private final VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 1L << 30, Chunking.VARIABLE_SHA256);
    private final CrashDirectory containers = new CrashDirectory(1);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private final InstantSource clock = () -> now;

    private Volume open() throws IOException {
        return Volume.open(
                config, new VolumeStores(containers, metadata, new HeapChunkIndex(), clock), Verification.CHECKSUMS);
    }

    private Volume create() throws IOException {
        Volume.create(config, containers, metadata, clock);
        return open();
    }

    private void pass(Duration time) {
        now = now.plus(time);
    }

    private long nowNs() {
        return now.getEpochSecond() * NANOS + now.getNano();
    }

    @Test
    void aRelativeTimeIsSetBehindAChangeAndOnceADay() throws IOException {
        try (Volume volume = create()) {
            long inode = volume.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                    .inode();
            pass(Duration.ofSeconds(1));
            assertTrue(volume.noteAccess(inode, AccessTimes.RELATIVE));
            long first = nowNs();
            assertEquals(first, volume.attributes(inode).accessedNs());
            pass(Duration.ofHours(23));
            assertFalse(volume.noteAccess(inode, AccessTimes.RELATIVE));
            assertEquals(first, volume.attributes(inode).accessedNs());
            pass(Duration.ofHours(1));
            assertTrue(volume.noteAccess(inode, AccessTimes.RELATIVE));
            pass(Duration.ofSeconds(1));
            volume.change(inode, AttributeChange.ofMode(0600));
            pass(Duration.ofMillis(1));
            assertTrue(volume.noteAccess(inode, AccessTimes.RELATIVE), "behind a change of the mode");
            pass(Duration.ofMillis(1));
            assertTrue(volume.noteAccess(inode, AccessTimes.RELATIVE), "in the same tick");
            pass(Duration.ofMillis(9));
            assertTrue(volume.noteAccess(inode, AccessTimes.RELATIVE), "still not behind it");
            pass(Duration.ofMillis(1));
            assertFalse(volume.noteAccess(inode, AccessTimes.RELATIVE));
            assertFalse(volume.noteAccess(inode, AccessTimes.NEVER));
            assertTrue(volume.noteAccess(inode, AccessTimes.ALWAYS));
            assertFalse(volume.noteAccess(inode, AccessTimes.ALWAYS), "the time is the same");
            pass(Duration.ofNanos(1));
            assertTrue(volume.noteAccess(inode, AccessTimes.ALWAYS));
        }
    }

    @Test
    void theNextCommitKeepsIt() throws IOException {
        long inode;
        long accessed;
        try (Volume volume = create()) {
            inode = volume.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                    .inode();
            volume.commit();
            volume.forget(inode, 1);
            pass(Duration.ofSeconds(1));
            assertTrue(volume.noteAccess(inode, AccessTimes.RELATIVE));
            accessed = nowNs();
        }
        try (Volume volume = open()) {
            assertEquals(
                    accessed, volume.lookup(Inode.ROOT, "file".getBytes(UTF_8)).accessedNs());
        }
    }

    /**
     * Opening counts as reading even without a later read: bytes that were read or written before may be in the
     * kernel's page cache.
     */
    @Test
    void openingCountsWhereBytesWereTransferred() throws IOException {
        try (Volume volume = create()) {
            long inode = volume.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                    .inode();
            pass(Duration.ofSeconds(1));
            assertFalse(volume.noteOpened(inode, AccessTimes.ALWAYS), "nothing of it can be there");
            OpenFile file = volume.open(inode, true);
            assertFalse(volume.noteOpened(inode, AccessTimes.ALWAYS));
            volume.write(file, 0, ByteBuffer.wrap(new byte[10]));
            assertTrue(volume.noteOpened(inode, AccessTimes.ALWAYS));
            volume.close(file);
            volume.sync();
            volume.forget(inode, 1);
            volume.lookup(Inode.ROOT, "file".getBytes(UTF_8));
            pass(Duration.ofSeconds(1));
            assertFalse(volume.noteOpened(inode, AccessTimes.ALWAYS), "the kernel has forgotten it");
            file = volume.open(inode, false);
            volume.read(file, 0, ByteBuffer.allocate(10));
            volume.close(file);
            assertTrue(volume.noteOpened(inode, AccessTimes.ALWAYS));
        }
    }

    @Test
    void whatIsNotThereHasNone() throws IOException {
        try (Volume volume = create()) {
            assertFalse(volume.noteAccess(4711, AccessTimes.ALWAYS));
        }
    }

    @Test
    void aVolumeThatIsReadOnlyKeepsItsTimes() throws IOException {
        try (Volume volume = create()) {
            long inode = volume.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                    .inode();
            volume.commit();
            pass(Duration.ofSeconds(1));
            assertTrue(volume.noteAccess(inode, AccessTimes.ALWAYS), "the control");
            long accessed = nowNs();
            metadata.failNextCommits(1);
            try {
                volume.commit();
            } catch (IOException e) {
                // The volume is read-only from here on.
            }
            pass(Duration.ofSeconds(1));
            assertFalse(volume.noteAccess(inode, AccessTimes.ALWAYS));
            assertEquals(accessed, volume.attributes(inode).accessedNs());
        } catch (IOException e) {
            // Closing reports the failed commit.
        }
    }
}
