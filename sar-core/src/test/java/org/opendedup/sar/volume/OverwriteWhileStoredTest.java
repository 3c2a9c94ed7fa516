package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;

/**
 * A long run of dirty bytes is stored in parts, and a second writer overwrites the end of a part while it is being
 * stored. The part's last chunk is unfinished there and returns to the dirty bytes, after those of the second writer
 * and in one extent with them.
 */
class OverwriteWhileStoredTest {
    private static final int MIB = 1 << 20;
    /** Number of bytes taken out at a time. */
    private static final int PART_BYTES = 8 * MIB;

    /** More than a part, and less than the memory for bytes that are not stored yet. */
    private static final int FILE_BYTES = 11 * MIB;
    /** Begins before every chunk that may be unfinished at the part's end, and ends within it. */
    private static final int OVERWRITE_FROM = PART_BYTES - (80 << 10);

    private static final int OVERWRITE_BYTES = (80 << 10) - 100;

    private final byte[] contents = random(FILE_BYTES, 1);
    private VolumeInMemory stores;

    @AutoClose
    private Volume volume;

    private OpenFile file;
    private boolean overwritten;

    @BeforeEach
    void writeARun() throws IOException {
        stores = VolumeInMemory.create(VolumeConfigs.in(Path.of("in memory"), 1L << 30, Chunking.VARIABLE_SHA256), 1);
        volume = stores.open();
        file = volume.open(make("file"), true);
        // A commit stores files with new names once more.
        volume.sync();
        withoutBackground(file);
        volume.write(file, 0, ByteBuffer.wrap(contents));
        stores.whileStored(this::overwrite);
    }

    private long make(String name) throws IOException {
        return volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
    }

    /** Stores the file's bytes only on request: as if the task that stores them waited for a thread. */
    private static void withoutBackground(OpenFile file) {
        synchronized (file.node()) {
            file.node().contents().scheduled = true;
        }
    }

    private static byte[] random(int bytes, long seed) {
        byte[] data = new byte[bytes];
        new Random(seed).nextBytes(data);
        return data;
    }

    /** Once, while the first part is being stored. */
    private void overwrite() throws IOException {
        if (overwritten) {
            return;
        }
        overwritten = true;
        byte[] data = random(OVERWRITE_BYTES, 2);
        volume.write(file, OVERWRITE_FROM, ByteBuffer.wrap(data));
        System.arraycopy(data, 0, contents, OVERWRITE_FROM, data.length);
    }

    private static byte[] read(Volume volume, long inode) throws IOException {
        OpenFile file = volume.open(inode, false);
        byte[] data = new byte[(int) volume.attributes(inode).size()];
        assertEquals(data.length, volume.read(file, 0, ByteBuffer.wrap(data)));
        volume.close(file);
        return data;
    }

    /** The file's contents after a power cut now; the second writer's bytes may be there or not. */
    private void assertKept(byte[] expected) throws IOException {
        assertTrue(overwritten);
        VolumeInMemory left = stores.crash(1);
        VolumeInMemory.abandon(volume);
        volume = left.open();
        byte[] kept = read(volume, file.inode());
        System.arraycopy(expected, OVERWRITE_FROM, kept, OVERWRITE_FROM, OVERWRITE_BYTES);
        assertArrayEquals(expected, kept);
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void syncStoresAllThatWasWrittenBeforeIt() throws IOException {
        volume.sync(file);
        assertKept(contents);
    }

    @Test
    void aCopyHasAllThatWasWrittenBeforeIt() throws IOException {
        OpenFile copy = volume.open(make("copy"), true);
        // A call may copy less: each of its steps ends after some milliseconds.
        for (long done = 0, more = 1; done < FILE_BYTES; done += more) {
            more = volume.copy(file, done, copy, done, FILE_BYTES - done);
            assertTrue(more > 0, "copied " + done);
        }
        assertTrue(overwritten);
        byte[] copied = read(volume, copy.inode());
        System.arraycopy(contents, OVERWRITE_FROM, copied, OVERWRITE_FROM, OVERWRITE_BYTES);
        assertArrayEquals(contents, copied);
        volume.close(copy);
    }

    /** A commit shows the new length, and so the bytes written below it. */
    @Test
    void aNewLengthComesWithAllThatWasWrittenBeforeIt() throws IOException {
        int size = PART_BYTES + MIB;
        volume.change(file.inode(), AttributeChange.ofSize(size));
        volume.context().committer().commit();
        assertKept(Arrays.copyOf(contents, size));
    }
}
