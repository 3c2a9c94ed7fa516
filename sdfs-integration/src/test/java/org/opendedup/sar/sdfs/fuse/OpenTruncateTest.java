package org.opendedup.sar.sdfs.fuse;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.raw.FastTier.Place;

/**
 * The kernel has the file cut off by the OPEN request itself (FUSE_ATOMIC_O_TRUNC), and made by that of CREATE: an open
 * that fails changes nothing.
 */
class OpenTruncateTest {
    private static final HotSettings TIER =
            new HotSettings(true, 64L << 20, 2, 1 << 20, true, 1000, HotSettings.Policy.REFERENCE_COUNT);
    private static final RawSettings RAW = new RawSettings(Placement.TDDFS, 64L << 20, 80, 60, 0);

    @Test
    void anOpenThatFailsLeavesTheFileAsItWas(@TempDir Path folder) throws Exception {
        VolumeConfig config = config(folder);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            FuseFileSystem files =
                    new FuseFileSystem(volume, MountOptions.of(Path.of("/none"), "test"), new HandleTable<>(1));
            FuseFileSystem.CreatedFile made =
                    files.create(Inode.ROOT, "file".getBytes(UTF_8), 0100644, true, new Owner(0, 0));
            long inode = made.attributes().inode();
            files.write(made.handle(), 0, ByteBuffer.wrap(new byte[100]));
            PosixException full =
                    assertThrows(PosixException.class, () -> files.open(inode, true, true, new Owner(0, 0)));
            assertEquals(PosixException.Reason.ENFILE, full.reason());
            assertEquals(100, files.attributes(inode).size());
            files.close(made.handle());
            // The control: as soon as one may be opened, it is cut off.
            files.close(files.open(inode, true, true, new Owner(0, 0)));
            assertEquals(0, files.attributes(inode).size());
        }
    }

    /** Otherwise the next attempt would find that the file exists. */
    @Test
    void aFileThatCannotBeOpenedIsNotMade(@TempDir Path folder) throws Exception {
        VolumeConfig config = config(folder);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            FuseFileSystem files =
                    new FuseFileSystem(volume, MountOptions.of(Path.of("/none"), "test"), new HandleTable<>(1));
            Owner root = new Owner(0, 0);
            long first = files.create(Inode.ROOT, "first".getBytes(UTF_8), 0100644, true, root)
                    .handle();
            byte[] second = "second".getBytes(UTF_8);
            PosixException full =
                    assertThrows(PosixException.class, () -> files.create(Inode.ROOT, second, 0100644, true, root));
            assertEquals(PosixException.Reason.ENFILE, full.reason());
            PosixException none = assertThrows(PosixException.class, () -> files.lookup(Inode.ROOT, second));
            assertEquals(PosixException.Reason.ENOENT, none.reason());
            assertEquals(2, volume.statistics().files(), "the root directory and the first file");
            files.close(first);
            files.close(files.create(Inode.ROOT, second, 0100644, true, root).handle());
        }
    }

    /** As ADR 50 says: most programs empty a file before they write it anew. */
    @Test
    void aMigratedFileThatIsCutOffBeginsAnewOnTheFastTier(@TempDir Path folder) throws Exception {
        VolumeConfig config =
                config(folder).withSsd(folder.resolve("ssd"), TIER).withRaw(RAW);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            FuseFileSystem files = new FuseFileSystem(
                    volume, MountOptions.of(Path.of("/none"), "test"), new HandleTable<>(HandleTable.MAX_HANDLES));
            FuseFileSystem.CreatedFile made =
                    files.create(Inode.ROOT, "file".getBytes(UTF_8), 0100644, true, new Owner(0, 0));
            long inode = made.attributes().inode();
            files.write(made.handle(), 0, ByteBuffer.wrap(new byte[100]));
            files.close(made.handle());
            assertTrue(volume.fastTier().migrate(inode));
            files.close(files.open(inode, true, false, new Owner(0, 0)));
            assertEquals(Place.CHUNKS, volume.fastTier().explain(inode).place(), "the control: it is not emptied");
            long handle = files.open(inode, true, true, new Owner(0, 0));
            assertEquals(Place.FAST_TIER, volume.fastTier().explain(inode).place());
            files.write(handle, 0, ByteBuffer.wrap(new byte[200]));
            files.close(handle);
            assertEquals(200, files.attributes(inode).size());
        }
    }

    /** Otherwise the file would be cut off by an open that fails. The kernel then keeps its former length. */
    @Test
    void nobodyTakesThePlaceOfAFileThatIsCutOff(@TempDir Path folder) throws Exception {
        VolumeConfig config =
                config(folder).withSsd(folder.resolve("ssd"), TIER).withRaw(RAW);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            Owner root = new Owner(0, 0);
            var waiting = new AtomicLong();
            FuseFileSystem files =
                    new FuseFileSystem(volume, MountOptions.of(Path.of("/none"), "test"), new HandleTable<>(1)) {
                        @Override
                        public void close(long handle) throws IOException {
                            super.close(handle);
                            long inode = waiting.getAndSet(0);
                            if (inode != 0) {
                                open(inode, false, false, root);
                            }
                        }
                    };
            FuseFileSystem.CreatedFile other = files.create(Inode.ROOT, "other".getBytes(UTF_8), 0100644, true, root);
            files.close(other.handle());
            FuseFileSystem.CreatedFile made = files.create(Inode.ROOT, "file".getBytes(UTF_8), 0100644, true, root);
            long inode = made.attributes().inode();
            files.write(made.handle(), 0, ByteBuffer.wrap(new byte[100]));
            files.close(made.handle());
            waiting.set(other.attributes().inode());
            long handle = files.open(inode, true, true, root);
            assertEquals(0, files.attributes(inode).size());
            files.write(handle, 0, ByteBuffer.wrap(new byte[50]));
            files.close(handle);
            assertEquals(0, waiting.get(), "the control: somebody waited for the place, and has it now");
            assertThrows(PosixException.class, () -> files.open(inode, false, false, root));
            assertEquals(50, files.attributes(inode).size());
            files.end();
        }
    }

    private static VolumeConfig config(Path folder) {
        return new VolumeConfig(
                "test",
                1L << 30,
                95,
                new VolumeConfig.Locations(
                        folder.resolve("data"), folder.resolve("metadata"), folder.resolve("hashdb")),
                Chunking.VARIABLE_SHA256,
                new Compression(Compression.Codec.ZSTD, 1, 64 << 10),
                256 << 10,
                256L << 20,
                2,
                new VolumeConfig.RootDirectory(0755, 0, 0));
    }
}
