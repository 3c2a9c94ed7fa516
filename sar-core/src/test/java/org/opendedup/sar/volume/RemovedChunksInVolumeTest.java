package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.PresentRecords;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.ScrubPhase;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.rewrite.Defragmentation;
import org.opendedup.sar.volume.rewrite.Defragmentation.Limits;

/** A volume whose container was written anew without chunks that a file refers to, as no collector must do. */
@Timeout(60)
class RemovedChunksInVolumeTest extends OpenVolumeTrial {
    private static final int CHUNK = 4096;
    private static final int CHUNKS = 256;

    private final byte[] content = new byte[CHUNKS * CHUNK];
    private long inode;
    private long container;
    private FrameTable table;

    @Override
    VolumeConfig configured() {
        return VolumeConfigs.in(folder, 1L << 30, Chunking.SHA256);
    }

    @BeforeEach
    void findContainer() throws IOException {
        new Random(1).nextBytes(content);
        inode = stored("file", content);
        reopen();
        volume.maintenance().forEachReference(inode, (offset, chunkId, chunkOffset, length, fingerprintPrefix) -> {
            container = ChunkId.container(chunkId);
            assertEquals(offset / CHUNK, ChunkId.slot(chunkId));
        });
        table = volume.context().containers().frameTable(container);
        assertTrue(table.frames() > 4);
    }

    private long stored(String name, byte[] data) throws IOException {
        long made = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
        OpenFile file = volume.open(made, true);
        volume.write(file, 0, ByteBuffer.wrap(data));
        volume.close(file);
        return made;
    }

    private void remove(int from, int to) throws IOException {
        BitSet removed = new BitSet();
        removed.set(from, to);
        RemovedChunks.remove(volume, config, container, removed);
        reopen();
    }

    private void assertReported(String problem) throws IOException {
        List<String> problems = VolumeChecker.check(volume);
        assertTrue(problems.stream().anyMatch(each -> each.contains(problem)), problems::toString);
    }

    private void assertNoFrameReported() throws IOException {
        List<String> problems = VolumeChecker.check(volume);
        assertFalse(problems.stream().anyMatch(each -> each.startsWith("frame ")), problems::toString);
    }

    @Test
    void theCheckReportsAChunkThatIsRemovedAndCounted() throws IOException {
        assertEquals(List.of(), VolumeChecker.check(volume));
        remove(CHUNKS, CHUNKS + 1);
        // The control: nothing is missing from the frames.
        assertNoFrameReported();
        remove(1, 2);
        long whole = (long) CHUNK * table.slotCount(0);
        assertReported("frame 0 of container " + container + " has " + (whole - CHUNK)
                + " bytes of chunks and its counts say " + whole);
    }

    @Test
    void theCheckReportsAFrameThatIsRemovedAndCounted() throws IOException {
        remove(table.firstSlot(1), table.firstSlot(2));
        assertReported("frame 1 of container " + container + " has 0 bytes of chunks and its counts say "
                + CHUNK * table.slotCount(1));
    }

    @Test
    void aReadOfWhatIsRemovedFailsAndAllElseIsRead() throws IOException {
        int first = table.firstSlot(2);
        int end = table.firstSlot(3) + 1;
        remove(first, end);
        OpenFile file = volume.open(inode, false);
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            ByteBuffer target = ByteBuffer.allocate(CHUNK);
            long at = (long) chunk * CHUNK;
            if (chunk >= first && chunk < end) {
                assertThrows(IOException.class, () -> volume.read(file, at, target), "chunk " + chunk);
            } else {
                volume.read(file, at, target);
                assertArrayEquals(
                        Arrays.copyOfRange(content, (int) at, (int) at + CHUNK), target.array(), "chunk " + chunk);
            }
        }
        volume.close(file);
        // The frame of which one chunk was removed can be referred to; it is not damaged. A chunk that does not exist
        // is.
        volume.sync();
        assertFalse(isDamaged(end));
        assertTrue(isDamaged(first));
    }

    private boolean isDamaged(int slot) throws IOException {
        boolean[] damaged = new boolean[1];
        PresentRecords.forEachCounted(
                volume.context().metadata(), (id, counts) -> damaged[0] |= counts.isDamaged(slot));
        return damaged[0];
    }

    /** The file has two chunks of one container, and one of another: it is sparse in both. */
    @Test
    void aRemovedChunkIsNotDefragmented() throws IOException {
        byte[] other = new byte[content.length];
        new Random(2).nextBytes(other);
        stored("other", other);
        reopen();
        byte[] sparse = new byte[content.length];
        new Random(3).nextBytes(sparse);
        System.arraycopy(content, 5 * CHUNK, sparse, 0, CHUNK);
        System.arraycopy(content, 6 * CHUNK, sparse, 100 * CHUNK, CHUNK);
        System.arraycopy(other, 7 * CHUNK, sparse, 200 * CHUNK, CHUNK);
        long fragmented = stored("sparse", sparse);
        reopen();
        remove(5, 6);
        Defragmentation done =
                volume.maintenance().defragment(fragmented, DiskModel.HDD, new Limits(0.05, false), Progress.NONE);
        assertEquals(2, done.rewrittenChunks(), done::toString);
        assertEquals(1, done.unreadableChunks(), done::toString);
        OpenFile file = volume.open(fragmented, false);
        ByteBuffer target = ByteBuffer.allocate(CHUNK);
        assertThrows(IOException.class, () -> volume.read(file, 0, target));
        volume.read(file, 100L * CHUNK, target.clear());
        assertArrayEquals(Arrays.copyOfRange(sparse, 100 * CHUNK, 101 * CHUNK), target.array());
        volume.close(file);
    }

    /**
     * A container that is written anew while its old place is verified, as healing does: what the old place lacks says
     * nothing of the new one.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aScrubMarksNothingOfAPlaceThatIsNotCurrentAnyMore(boolean isReplaced) throws IOException {
        StoredContainer whole =
                Objects.requireNonNull(volume.context().metadata().containers().get(container));
        stored("other", Arrays.copyOf(content, 5 * CHUNK + 1));
        reopen();
        long[] last = new long[1];
        volume.context().metadata().containers().forEach(entry -> last[0] = entry.container());
        assertTrue(last[0] > container);
        long[] calls = new long[2];
        volume.maintenance().scrub().run((totals, rest, cursor) -> {
            calls[0] += cursor.phase() == ScrubPhase.CONTAINERS ? 1 : 0;
            return true;
        });
        remove(1, 2);
        // It lies behind, so that the scrub reads the first one before it asks for the last time whether to go on.
        RemovedChunks.remove(volume, config, last[0], new BitSet());
        reopen();
        MetadataStore metadata = volume.context().metadata();
        volume.maintenance().scrub().run((totals, rest, cursor) -> {
            if (cursor.phase() == ScrubPhase.CONTAINERS && ++calls[1] == calls[0] && isReplaced) {
                try {
                    metadata.commit(metadata.freeze(), new ContainerChanges(Map.of(container, whole), Set.of()));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            return true;
        });
        assertEquals(calls[0], calls[1]);
        assertEquals(!isReplaced, metadata.counts().ofContainer(container).isDamaged(1));
    }
}
