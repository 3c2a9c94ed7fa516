package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;

/** The truncation of a file with so many recipe pages that their removal exceeds what may wait for a commit. */
@Timeout(300)
class LongTruncationTest {
    /** Pages of the file that the long one consists of. */
    private static final int PART_PAGES = 1024;

    /** Least bytes that the removal of a page takes until it is committed. */
    private static final int REMOVED_BYTES = 100;

    /** More than the removals of one batch take. */
    private static final long BATCH_BYTES = 256 << 10;

    @MemoryFolder
    Path folder;

    private VolumeConfig config;
    private Volume volume;

    @BeforeEach
    void makeVolume() throws IOException {
        config = VolumeConfigs.in(folder, 1L << 40, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        volume = Volume.open(config);
    }

    @AfterEach
    void closeVolume() throws IOException {
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.close();
    }

    private OpenFile make(String name) throws IOException {
        return volume.open(
                volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                        .inode(),
                true);
    }

    /** Makes a file that has a byte in each of its pages. */
    private OpenFile makePart(long pageBytes) throws IOException {
        OpenFile part = make("part");
        for (int page = 0; page < PART_PAGES; page++) {
            volume.write(part, page * pageBytes, ByteBuffer.wrap(new byte[] {1}));
        }
        volume.change(part.inode(), AttributeChange.ofSize(PART_PAGES * pageBytes));
        volume.sync();
        return part;
    }

    @Test
    void whatWaitsForACommitStaysWithinItsPartOfTheMemory() throws IOException {
        long most = MemoryPlan.of(config).pendingMetadata() / 2;
        long pageBytes = volume.context().metadata().recipes().pageBytes();
        long partBytes = PART_PAGES * pageBytes;
        OpenFile part = makePart(pageBytes);
        OpenFile whole = make("whole");
        long pages = 0;
        while (pages * REMOVED_BYTES < 2 * most) {
            // A call may copy less: each of its steps ends after some milliseconds.
            for (long done = 0, more = 1; done < partBytes; done += more) {
                more = volume.copy(part, done, whole, pages * pageBytes + done, partBytes - done);
                assertTrue(more > 0, "copied " + done);
            }
            pages += PART_PAGES;
        }
        volume.sync();
        volume.change(whole.inode(), AttributeChange.ofSize(0));
        long pending = volume.context().metadata().pendingBytes();
        assertTrue(pending <= most + BATCH_BYTES, () -> pending + " bytes wait, more than " + most);
        volume.close(part);
        volume.close(whole);
    }
}
