package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.raw.FastTier.Place;
import org.opendedup.sar.volume.store.VolumeStores;

/** After a rollback nothing on the fast tier is of the state of before, whether that was stored in chunks or not. */
@Timeout(300)
class RawRollbackTest {
    private static final Owner OWNER = new Owner(0, 0, 0);
    private static final int ROUNDS = 10;
    private static final int CHANGES = 30;

    private final long seed = TestSeed.next();
    private final SplittableRandom random = new SplittableRandom(seed);
    private final VolumeConfig config =
            RawStores.of(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256));
    private CrashDirectory data = new CrashDirectory(seed);
    private CrashKeyValueStore metadata = new CrashKeyValueStore();
    private CrashRawFolder raw = new CrashRawFolder(seed);

    @AutoClose
    private Volume volume;

    @BeforeEach
    void create() throws IOException {
        Volume.create(config, data, metadata, InstantSource.system());
        open();
    }

    private void open() throws IOException {
        VolumeStores stores =
                new VolumeStores(data, metadata, new HeapChunkIndex(), InstantSource.system()).withRaw(volumeId -> raw);
        volume = Volume.open(config, stores, Verification.CHECKSUMS);
    }

    private void rollBack(String to, @Nullable String before) throws IOException {
        volume.rollback().begin(to, before);
        volume.close();
        open();
    }

    private Map<String, String> present() throws IOException {
        return TreeDigest.of(volume, Inode.ROOT);
    }

    private Map<String, String> in(String snapshot) throws IOException {
        return TreeDigest.of(volume, TreeDigest.snapshotRoot(volume, snapshot));
    }

    private long make(String name, String content) throws IOException {
        Attributes made = volume.makeNode(Inode.ROOT, name.getBytes(ISO_8859_1), Modes.REGULAR | 0600, 0, OWNER);
        volume.forget(made.inode(), 1);
        write(made.inode(), content);
        return made.inode();
    }

    private void write(long inode, String content) throws IOException {
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(content.getBytes(ISO_8859_1)));
        volume.close(file);
    }

    private String read(long inode) throws IOException {
        ByteBuffer found = ByteBuffer.allocate(1000);
        OpenFile file = volume.open(inode, false);
        volume.read(file, 0, found);
        volume.close(file);
        return new String(found.array(), 0, found.position(), ISO_8859_1);
    }

    @Test
    void theVolumeIsAsItWasWhicheverSnapshotIsChosen() throws IOException {
        RandomTree tree = new RandomTree(random);
        Map<String, Map<String, String>> made = new TreeMap<>();
        for (int round = 0; round < ROUNDS; round++) {
            tree.change(volume, CHANGES);
            volume.snapshots().create("snapshot" + round, 0, false);
            made.put("snapshot" + round, present());
            tree.change(volume, CHANGES);
            switch (random.nextInt(3)) {
                case 0 -> migrateSome();
                case 1 -> crash();
                default -> volume.sync();
            }
            Map<String, String> before = present();
            String to = "snapshot" + random.nextInt(round + 1);
            String kept = random.nextBoolean() ? "before" + round : null;
            rollBack(to, kept);
            boolean isMade = volume.snapshots().list().stream()
                    .anyMatch(one -> one.name().equals(kept));
            if (kept != null && isMade) {
                made.put(kept, before);
            }
            assertEquals(made.get(to), present(), () -> to + ", seed " + seed);
            for (String name : made.keySet()) {
                assertEquals(made.get(name), in(name), () -> name + ", seed " + seed);
            }
            assertEquals(List.of(), VolumeChecker.check(volume), "seed " + seed);
        }
    }

    private void migrateSome() throws IOException {
        List<Long> files = new ArrayList<>();
        volume.context().raws().all().forEach(file -> files.add(file.inode()));
        for (long inode : files) {
            try {
                var unused = random.nextBoolean() && volume.fastTier().migrate(inode);
            } catch (PosixException e) {
                // It lost its last name.
            }
        }
    }

    private void crash() throws IOException {
        Volume gone = volume;
        data = data.crash(random.nextLong());
        metadata = metadata.crash(random.nextLong());
        raw = raw.crash(random.nextLong());
        VolumeInMemory.abandon(gone);
        open();
    }

    /** A file that is the same in the snapshot stays on the fast tier; one that is not is as its recipe says. */
    @Test
    void whatIsTheSameStaysThere() throws IOException {
        long same = make("same", "same");
        long changed = make("changed", "before");
        volume.snapshots().create("s", 0, false);
        long gone = make("gone", "new");
        write(changed, "after!");
        assertEquals(Place.FAST_TIER, volume.fastTier().explain(changed).place());
        rollBack("s", "before");
        assertEquals(Place.BOTH, volume.fastTier().explain(same).place());
        assertEquals(Place.CHUNKS, volume.fastTier().explain(changed).place());
        assertEquals("same", read(same));
        assertEquals("before", read(changed));
        assertEquals(1, raw.numbers().size(), "what has no record is deleted");
        assertEquals(
                "new",
                read(volume.lookup(TreeDigest.snapshotRoot(volume, "before"), "gone".getBytes(ISO_8859_1))
                        .inode()));
        rollBack("before", null);
        assertEquals("after!", read(changed));
        assertEquals("new", read(gone));
    }

    /** Bytes that are only there go, although the inode and the recipe are those of the snapshot. */
    @Test
    void whatIsOnlyThereIsDiscarded() throws IOException {
        long file = make("file", "before");
        volume.snapshots().create("s", 0, false);
        make("new", "new");
        write(file, "after!");
        volume.commit();
        rollBack("s", null);
        assertEquals("before", read(file));
        assertEquals(List.of(), raw.numbers());
        make("later", "later");
        assertNotEquals(List.of(), raw.numbers(), "the fast tier is used again");
        assertTrue(VolumeChecker.check(volume).isEmpty());
    }
}
