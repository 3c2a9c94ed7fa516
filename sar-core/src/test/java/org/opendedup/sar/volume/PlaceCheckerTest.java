package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** The check of a volume finds each kind of wrong place in the container table, here made by hand. */
final class PlaceCheckerTest {
    private static final int MIB = 1 << 20;
    /** An id that no container of the volume has. */
    private static final long FREE = 77;

    @MemoryFolder
    Path folder;

    private VolumeConfig config;

    @AutoClose
    private Volume volume;

    private List<ContainerEntry> entries;

    @BeforeEach
    void makeVolumeWithTwoContainersInAPack() throws IOException {
        config = VolumeConfigs.in(folder, 100L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        try (Volume made = Volume.open(config)) {
            long inode = made.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                    .inode();
            byte[] data = new byte[6 * MIB];
            new Random(1).nextBytes(data);
            OpenFile file = made.open(inode, true);
            made.write(file, 0, ByteBuffer.wrap(data));
            made.close(file);
        }
        volume = Volume.open(config);
        entries = new ArrayList<>();
        volume.context().metadata().containers().forEach(entries::add);
        assertEquals(2, entries.size(), entries::toString);
        assertEquals(first().pack(), entries.get(1).stored().pack());
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    private StoredContainer first() {
        return entries.get(0).stored();
    }

    private Path pack() throws IOException {
        return PackedContainer.packs(config.locations().data()).get(0);
    }

    @Test
    void theTableIsThatOfThePacksThemselves() throws IOException {
        List<PackedContainer> found = PackedContainer.in(config.locations().data());
        assertEquals(2, found.size(), found::toString);
        for (int i = 0; i < found.size(); i++) {
            assertEquals(found.get(i).id(), entries.get(i).container());
            assertEquals(found.get(i).offset(), entries.get(i).stored().offset());
            assertEquals(found.get(i).bytes(), entries.get(i).stored().bytes());
        }
    }

    @Test
    void aFurtherContainerInItsOwnPlaceIsNoProblem() throws IOException {
        long end = Files.size(pack());
        long start = (end + 4095) / 4096 * 4096;
        Files.write(pack(), new byte[(int) (start - end) + 100], StandardOpenOption.APPEND);
        put(FREE, first().pack(), start, 100);
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void aPlaceThatEndsAfterTheFileIsReported() throws IOException {
        long start = (Files.size(pack()) + 4095) / 4096 * 4096;
        put(FREE, first().pack(), start, 100);
        assertReported("ends after the file, which has " + Files.size(pack()) + " bytes");
    }

    @Test
    void placesThatOverlapAreReported() throws IOException {
        long second = entries.get(1).stored().offset();
        put(FREE, first().pack(), second + 4096, 100);
        assertReported("begins before byte " + (second + entries.get(1).stored().bytes()));
    }

    @Test
    void aPlaceInTheHeaderIsReported() throws IOException {
        put(FREE, first().pack(), 0, 100);
        assertReported("begins before byte 4096");
    }

    @Test
    void aPlaceThatIsNotAlignedIsReported() throws IOException {
        long end = Files.size(pack());
        Files.write(pack(), new byte[5000], StandardOpenOption.APPEND);
        put(FREE, first().pack(), (end + 4095) / 4096 * 4096 + 8, 100);
        assertReported("does not begin at a multiple of 4096");
    }

    @Test
    void anIdAboveThePacksNumberIsReported() throws IOException {
        long start = (Files.size(pack()) + 4095) / 4096 * 4096;
        Files.write(pack(), new byte[5000], StandardOpenOption.APPEND);
        put(first().pack() + 1, first().pack(), start, 100);
        assertReported("has an id above the number of its pack");
    }

    @Test
    void aMissingPackIsReported() throws IOException {
        put(FREE, 0xabcdef, 4096, 100);
        assertReported("pack 000000ab/000000abcdef.pack is in the container table and cannot be read: ");
    }

    @Test
    void aDamagedHeaderOfAPackIsReported() throws IOException {
        byte[] bytes = Files.readAllBytes(pack());
        bytes[9] ^= 1;
        Files.write(pack(), bytes);
        assertReported("is in the container table and cannot be read: ");
    }

    private void put(long container, long pack, long offset, long bytes) throws IOException {
        StoredContainer stored = new StoredContainer(new Writing(1, 1), State.SEALED, pack, offset, bytes, 0, 0);
        MetadataStore metadata = volume.context().metadata();
        Lock commits = volume.context().committer().commitLock();
        commits.lock();
        try {
            metadata.commit(metadata.freeze(), new ContainerChanges(Map.of(container, stored), Set.of()));
        } finally {
            commits.unlock();
        }
    }

    private void assertReported(String problem) throws IOException {
        List<String> problems = VolumeChecker.check(volume);
        assertEquals(1, problems.size(), problems::toString);
        assertTrue(problems.get(0).contains(problem), problems::toString);
    }
}
