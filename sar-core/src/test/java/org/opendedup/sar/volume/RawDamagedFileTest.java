package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.opendedup.sar.volume.FileHistory.filled;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawNumbers;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.store.VolumeStores;

/** A file whose backing file cannot be read keeps no other file from being stored in chunks, or from being used. */
@Timeout(120)
class RawDamagedFileTest {
    private static final long CAPACITY = 1L << 20;
    /** Lengths of files that are stored together with others, and by themselves. */
    private static final int SHORT = 20_000;

    private static final int LONG = 100_000;

    private final CrashDirectory data = new CrashDirectory(1);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private final CrashRawFolder raw = new CrashRawFolder(1);
    private final FileHistory files = FileHistory.ofRawFiles();
    private Volume volume;

    private void open(VolumeConfig config) throws IOException {
        VolumeStores stores = new VolumeStores(
                        data, metadata, new HeapChunkIndex(), InstantSource.system(), RawStores.noCopies(), null)
                .withRaw(raw.opener());
        volume = Volume.open(config, stores, Verification.FINGERPRINTS);
        files.use(volume);
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    private FastTier.Place place(String name) throws IOException {
        return volume.fastTier().explain(files.inode(name)).place();
    }

    private void file(String name, int bytes) throws IOException {
        files.make(name);
        files.append(name, filled(bytes, name.length()));
    }

    /** @param withInode whether the file cannot be examined either */
    @ParameterizedTest(name = "migrated {0}, {1} bytes, with its inode {2}, in use {3}")
    @CsvSource({
        "false, 20000, false, false",
        "false, 20000, true, false",
        "false, 100000, true, false",
        "false, 20000, true, true",
        "true, 20000, false, false",
        "true, 100000, false, false",
        "true, 20000, true, true",
    })
    void theOthersAreStoredAndCanBeChanged(boolean isMigrated, int bytes, boolean withInode, boolean isInUse)
            throws Exception {
        // The first copies what is at rest, the second migrates whatever there is.
        RawSettings settings = isMigrated
                ? new RawSettings(Placement.TDDFS, CAPACITY, 1, 1, 0)
                : new RawSettings(Placement.TDDFS, CAPACITY, 100, 100, 1);
        VolumeConfig config = RawStores.of(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256))
                .withRaw(settings);
        Volume.create(config, data, metadata, InstantSource.system());
        open(config);
        OpenFile used = null;
        // While one is in use, none after it in the order is chosen alone.
        file("a", SHORT);
        file("damaged", bytes);
        if (isInUse) {
            used = volume.open(files.inode("damaged"), false);
        }
        raw.damage(RawNumbers.first(files.inode("damaged")), withInode);
        file("bb", SHORT);
        file("long", LONG);
        FastTier.Place wanted = isMigrated ? FastTier.Place.CHUNKS : FastTier.Place.BOTH;
        for (String name : List.of("a", "bb", "long")) {
            TestWait.until(() -> place(name) == wanted);
        }
        for (String name : List.of("a", "bb", "long")) {
            CompletableFuture.runAsync(() -> change(name)).get(30, TimeUnit.SECONDS);
        }
        if (used != null) {
            volume.close(used);
        }
        volume.unlink(Inode.ROOT, "damaged".getBytes(UTF_8));
        files.store();
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    private void change(String name) {
        try {
            files.truncate(name, 10);
            files.append(name, filled(10, 9));
            files.sync(name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
