package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.raw.FastTier.Place;
import org.opendedup.sar.volume.store.VolumeStores;

/** A process has descriptors for 20 backing files. */
class RawOpenFilesTest {
    private static final int MOST_OPEN = 20;

    @AutoClose
    private Volume volume;

    @BeforeEach
    void open() throws IOException {
        VolumeConfig config = RawStores.of(VolumeConfigs.in(Path.of("in memory"), 1L << 40, Chunking.VARIABLE_SHA256));
        CrashDirectory data = new CrashDirectory(1);
        CrashKeyValueStore metadata = new CrashKeyValueStore();
        Volume.create(config, data, metadata, InstantSource.system());
        RawFolder folder = new CrashRawFolder(1);
        VolumeStores stores = new VolumeStores(
                        data, metadata, new HeapChunkIndex(), InstantSource.system(), RawStores.noCopies(), null)
                .withRaw(new RawFolder.Opener() {
                    @Override
                    public RawFolder open(UUID id) {
                        return folder;
                    }

                    @Override
                    public int mostOpenFiles() {
                        return MOST_OPEN;
                    }
                });
        volume = Volume.open(config, stores, Verification.FINGERPRINTS);
    }

    private OpenFile make(String name, int user) throws IOException {
        byte[] bytes = name.getBytes(UTF_8);
        long inode = volume.makeNode(Inode.ROOT, bytes, 0100644, 0, new Owner(user, user))
                .inode();
        OpenFile file = volume.open(inode, true, user);
        volume.write(file, 0, ByteBuffer.wrap(bytes));
        return file;
    }

    private int raw(List<OpenFile> files) throws IOException {
        int raw = 0;
        for (OpenFile file : files) {
            raw += volume.fastTier().explain(file.inode()).place() == Place.FAST_TIER ? 1 : 0;
        }
        return raw;
    }

    @Test
    void newFilesBeyondAUsersShareAreStoredInChunks() throws IOException {
        List<OpenFile> ofOne = new ArrayList<>();
        List<OpenFile> ofOther = new ArrayList<>();
        for (int i = 0; i < 2 * MOST_OPEN; i++) {
            ofOne.add(make("one" + i, 1000));
        }
        for (int i = 0; i < 2 * MOST_OPEN; i++) {
            ofOther.add(make("other" + i, 1001));
        }
        assertEquals(MOST_OPEN / 2, raw(ofOne));
        assertEquals(MOST_OPEN / 4, raw(ofOther));
        for (OpenFile file : ofOne) {
            volume.close(file);
        }
        OpenFile later = make("later", 1000);
        assertEquals(1, raw(List.of(later)), "closed files count no more");
        volume.close(later);
        for (OpenFile file : ofOther) {
            volume.close(file);
        }
    }

    @Test
    void aRawFileBeyondAUsersShareIsNotOpened() throws IOException {
        OpenFile made = make("file", 1000);
        volume.close(made);
        List<OpenFile> openings = new ArrayList<>();
        PosixException refused = assertThrows(PosixException.class, () -> {
            while (true) {
                openings.add(volume.open(made.inode(), false, 1000));
            }
        });
        assertEquals(PosixException.Reason.ENFILE, refused.reason());
        assertEquals(MOST_OPEN / 2, openings.size());
        volume.close(volume.open(made.inode(), true, 1001));
        for (OpenFile file : openings) {
            volume.close(file);
        }
        volume.close(volume.open(made.inode(), false, 1000));
    }
}
