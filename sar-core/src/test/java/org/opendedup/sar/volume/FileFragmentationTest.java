package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.restore.cache.CacheChoice;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;

/** Figures of files of a real volume with chunks of 4 KiB that do not compress. */
class FileFragmentationTest extends OpenVolumeTrial {
    private static final int CHUNK = 4096;
    /** Length of the file that is written in sequence: several containers. */
    private static final int WHOLE_MIB = 24;

    private long whole;
    private byte[] data;

    @Override
    VolumeConfig configured() {
        return VolumeConfigs.in(folder, 1L << 30, Chunking.SHA256);
    }

    @BeforeEach
    void writeWhole() throws IOException {
        data = new byte[WHOLE_MIB * MIB];
        new Random(1).nextBytes(data);
        whole = make("whole");
        write(whole, 0, 0, data.length);
    }

    @Test
    void aFileWrittenInSequenceUsesItsContainersWhole() throws IOException {
        FileFragmentation file = analyze(whole);
        assertEquals(data.length, file.bytes());
        assertEquals(data.length / CHUNK, file.references());
        assertEquals(data.length, file.uniqueBytes());
        assertTrue(file.containers() >= WHOLE_MIB / 5 && file.containers() <= WHOLE_MIB / 4 + 1, file::toString);
        assertEquals(1, file.meanUse(), 1e-9);
        assertEquals(0, file.sparseContainers());
        assertEquals(file.containers(), file.containerReads());
        // One pack: the disk does not seek between its containers, and reads directories and footers along.
        assertEquals(1, file.requests());
        assertTrue(file.diskBytes() >= data.length && file.diskBytes() < 1.02 * data.length, file::toString);
        assertEquals((double) WHOLE_MIB / file.containers(), file.speedFactor(), 1e-9);
        // Stored raw, with headers.
        assertTrue(file.storedBytes() >= data.length && file.storedBytes() < 1.02 * data.length, file::toString);
        assertTrue(file.bytesPerSecond(DiskModel.HDD) > 80e6, file::toString);
    }

    @Test
    void aFileOfFewChunksOfEachContainerIsSparse() throws IOException {
        long scattered = make("scattered");
        for (int i = 0; i < WHOLE_MIB / 4; i++) {
            write(scattered, (long) i * CHUNK, i * 4 * MIB, CHUNK);
        }
        FileFragmentation file = analyze(scattered);
        assertEquals(WHOLE_MIB / 4, file.containers());
        assertEquals(file.containers(), file.sparseContainers());
        assertEquals(1, file.sparseShare());
        assertTrue(file.meanUse() < 0.002, file::toString);
        assertEquals(WHOLE_MIB / 4, file.requests());
        assertEquals(CHUNK / (double) MIB, file.speedFactor(), 1e-9);
    }

    @Test
    void chunksWantedAgainCountOnceInTheUse() throws IOException {
        long twice = make("twice");
        write(twice, 0, 0, 2 * MIB);
        write(twice, 2 * MIB, 0, 2 * MIB);
        FileFragmentation file = analyze(twice);
        assertEquals(4 * MIB, file.bytes());
        assertEquals(2 * MIB, file.uniqueBytes());
        assertEquals(1, file.containerReads());
    }

    @Test
    void neighboursInAPackAreOneRequestAndTheEndsOfTwoPacksAreTwo() throws IOException {
        long neighbours = make("neighbours");
        write(neighbours, 0, MIB, 4 * MIB);
        FileFragmentation joined = analyze(neighbours);
        assertTrue(joined.containers() >= 2, joined::toString);
        assertEquals(joined.containers(), joined.containerReads());
        assertEquals(1, joined.requests());
        // Of 4 MiB; and the tail of each container, which is read along.
        assertTrue(joined.diskBytes() >= 4 * MIB && joined.diskBytes() < 4.5 * MIB, joined::toString);

        // A volume that is opened again begins a new pack.
        volume.close();
        volume = Volume.open(config);
        byte[] first = data;
        data = new byte[MIB];
        new Random(2).nextBytes(data);
        write(make("other"), 0, 0, MIB);
        long both = make("both");
        write(both, 0, 0, MIB);
        data = first;
        write(both, MIB, WHOLE_MIB * MIB - MIB, MIB);
        assertEquals(2, analyze(both).containers());
        assertEquals(2, analyze(both).requests());
    }

    @Test
    void eachBatchOfAReaderVisitsThePacksAnew() throws IOException {
        volume.close();
        volume = Volume.open(config);
        byte[] first = data;
        byte[] second = new byte[6 * MIB];
        new Random(3).nextBytes(second);
        data = second;
        write(make("second"), 0, 0, second.length);
        long mixed = make("mixed");
        for (int i = 0; i < 6; i++) {
            data = first;
            write(mixed, 2L * i * MIB, i * MIB, MIB);
            data = second;
            write(mixed, (2L * i + 1) * MIB, i * MIB, MIB);
        }
        assertEquals(4, analyze(mixed).containers());
        assertEquals(2, analyze(mixed).requests());

        // Batches of 2 MiB: the second container of each pack is wanted by a later one than the first.
        volume.close();
        volume = Volume.open(config.withRestore(new RestoreSettings(
                CacheChoice.DEFAULT, OptionalLong.of(8 * MIB), OptionalLong.empty(), 0.25, DiskOption.AUTO)));
        assertEquals(4, analyze(mixed).requests());
    }

    @Test
    void neighboursWantedAgainAfterTheWindowAreReadAgain() throws IOException {
        long window = VolumeMaintenance.WINDOWS_OF_CACHE * MemoryPlan.of(config).restoreCache() / MIB * MIB;
        long soon = make("soon");
        write(soon, 0, MIB, 4 * MIB);
        write(soon, window, MIB, 4 * MIB);
        long containers = analyze(soon).containers();
        assertEquals(containers, analyze(soon).containerReads());
        assertEquals(1, analyze(soon).requests());
        long late = make("late");
        write(late, 0, MIB, 4 * MIB);
        write(late, window + 5 * MIB, MIB, 4 * MIB);
        assertEquals(containers, analyze(late).containers());
        assertEquals(2 * containers, analyze(late).containerReads());
        assertEquals(2, analyze(late).requests());
    }

    @Test
    void whatWasWrittenALittleAgoCounts() throws IOException {
        long fresh = make("fresh");
        OpenFile file = volume.open(fresh, true);
        volume.write(file, 0, ByteBuffer.wrap(new byte[] {1, 2, 3}));
        assertEquals(3, analyze(fresh).bytes());
        volume.close(file);
    }

    @Test
    void holesAndZerosCostNothing() throws IOException {
        long sparse = make("sparse");
        OpenFile file = volume.open(sparse, true);
        volume.write(file, 10 * MIB, ByteBuffer.allocate(MIB));
        volume.close(file);
        FileFragmentation found = analyze(sparse);
        assertEquals(new FileFragmentation(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), found);
        assertEquals(0, found.speedFactor());
        assertEquals(0, found.bytesPerSecond(DiskModel.HDD));
        assertEquals(0, found.sparseShare());
    }

    @Test
    void aFolderHasNoContainers() {
        var e = assertThrows(PosixException.class, () -> analyze(Inode.ROOT));
        assertEquals(PosixException.Reason.EISDIR, e.reason());
    }

    private FileFragmentation analyze(long inode) throws IOException {
        return volume.maintenance().fragmentation(inode, DiskModel.HDD);
    }

    private void write(long inode, long offset, int from, int length) throws IOException {
        OpenFile file = volume.open(inode, true);
        volume.write(file, offset, ByteBuffer.wrap(data, from, length));
        volume.sync(file);
        volume.close(file);
    }
}
