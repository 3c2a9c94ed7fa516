package org.opendedup.sar.sdfs.fuse;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.posix.Owner;

/** The kernel asks for the attributes before write(2), by which a program hears that its bytes found no space. */
class RefusedWritesTest {
    private static final int CAPACITY = 40 << 20;
    /** Of a write; the capacity is no multiple of it, so that it is clear which one finds no space. */
    private static final int BYTES = 3 << 20;

    private static final Owner ROOT = new Owner(0, 0);

    @Test
    void aProgramHearsOfAFullVolumeWhoeverReadsItsFile(@TempDir Path folder) throws Exception {
        VolumeConfig config = VolumeConfigs.in(folder, CAPACITY, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            FuseFileSystem files = new FuseFileSystem(
                    volume, MountOptions.of(Path.of("/none"), "test"), new HandleTable<>(HandleTable.MAX_HANDLES));
            FuseFileSystem.CreatedFile made = files.create(Inode.ROOT, "file".getBytes(UTF_8), 0100644, true, ROOT);
            long inode = made.attributes().inode();
            byte[] content = Shell.randomBytes(BYTES);
            assertThrows(NoSpaceException.class, () -> {
                for (long offset = 0; offset <= CAPACITY; offset += BYTES) {
                    files.writeBack(made.handle(), offset, ByteBuffer.wrap(content));
                }
            });
            assertThrows(NoSpaceException.class, () -> files.attributes(inode, made.handle()));
            long reader = files.open(inode, false, false, ROOT);
            assertEquals(inode, files.attributes(inode, reader).inode(), "a reader is not concerned");
            files.close(reader);
            assertThrows(NoSpaceException.class, () -> files.attributes(inode, made.handle()));

            long again = files.open(inode, true, false, ROOT);
            files.close(made.handle());
            assertThrows(NoSpaceException.class, () -> files.attributes(inode, again));
            files.close(again);
            assertAsked(files, inode);
        }
    }

    /** Whoever opens the file when nobody writes it finds nothing of what was refused before. */
    private static void assertAsked(FuseFileSystem files, long inode) throws IOException {
        long later = files.open(inode, true, false, ROOT);
        assertEquals(inode, files.attributes(inode, later).inode());
        files.close(later);
    }
}
