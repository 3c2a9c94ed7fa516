package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.HookedKeyValueStore;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Rollback;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.RollbackRecord;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.record.ValueReader;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.snapshot.VolumeRollback;
import org.opendedup.sar.volume.store.VolumeStores;

/** A rollback that did not end: what opens the volume finishes it, or it is turned to another snapshot. */
@Timeout(300)
class UnfinishedRollbackTest {
    private static final Owner OWNER = new Owner(1, 1);
    private static final int FILES = 300;
    /** So small that the records take many steps. */
    private static final long STEP_BYTES = 4 << 10;

    @MemoryFolder
    Path folder;

    /** Refuses commits after some. */
    private static final class Limited extends HookedKeyValueStore<CrashKeyValueStore> {
        private int commits;
        private int most = Integer.MAX_VALUE;

        Limited() {
            super(new CrashKeyValueStore());
        }

        @Override
        protected void commit(Batch batch) throws IOException {
            if (commits >= most) {
                throw new NoSpaceException("the test refuses this commit");
            }
            commits++;
            batch.commit();
        }
    }

    private VolumeConfig config() {
        return VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private static void make(Volume volume, String name, String content) throws IOException {
        Attributes made = volume.makeNode(Inode.ROOT, bytes(name), 0100644, 0, OWNER);
        if (!content.isEmpty()) {
            OpenFile file = volume.open(made.inode(), true);
            volume.write(file, 0, ByteBuffer.wrap(bytes(content)));
            volume.close(file);
        }
        volume.forget(made.inode(), 1);
    }

    @Test
    void aFullDiskEndsItAndItGoesOnOrBack() throws IOException {
        CrashDirectory data = new CrashDirectory(1);
        Limited metadata = new Limited();
        VolumeConfig config = config();
        Volume.create(config, data, metadata, InstantSource.system());
        Map<String, String> old;
        Map<String, String> last;
        try (Volume volume = open(data, metadata)) {
            for (int i = 0; i < FILES; i++) {
                make(volume, "file" + i, "");
            }
            volume.snapshots().create("old", 0, false);
            old = TreeDigest.of(volume, Inode.ROOT);
            for (int i = 0; i < FILES; i++) {
                volume.unlink(Inode.ROOT, bytes("file" + i));
            }
            make(volume, "last", "of before");
            volume.sync();
            last = TreeDigest.of(volume, Inode.ROOT);
            volume.rollback().begin("old", "before");
        }
        metadata.most = metadata.commits;
        NoSpaceException full = assertThrows(NoSpaceException.class, () -> open(data, metadata));
        assertTrue(full.getMessage().contains("the rollback to snapshot 'old' needs more space"), full.toString());
        for (int steps = 1; steps <= 8; steps *= 2) {
            metadata.most = metadata.commits + steps;
            assertThrows(NoSpaceException.class, () -> rollBackInSmallSteps(metadata));
        }
        metadata.most = Integer.MAX_VALUE;
        try (Batch batch = KeyValueStores.sealed(metadata, config.keys()).batch()) {
            // As VolumeRollback.turn does with a database in a folder. Snapshot 2 is that of before.
            batch.put(Family.SYSTEM, SystemRecords.ROLLBACK, new RollbackRecord(2, true).encode());
            batch.commit();
        }
        try (Volume volume = open(data, metadata)) {
            assertEquals(last, TreeDigest.of(volume, Inode.ROOT));
            assertEquals(List.of(), VolumeChecker.check(volume));
            volume.rollback().begin("old", null);
        }
        metadata.most = metadata.commits + 15;
        assertThrows(NoSpaceException.class, () -> rollBackInSmallSteps(metadata));
        metadata.most = Integer.MAX_VALUE;
        try (Volume volume = open(data, metadata)) {
            assertEquals(old, TreeDigest.of(volume, Inode.ROOT));
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
    }

    private void rollBackInSmallSteps(Limited metadata) throws IOException {
        MetadataStore store = MetadataStore.open(KeyValueStores.sealed(metadata, config().keys()), 1 << 20);
        Rollback.finish(store, Objects.requireNonNull(store.rollback()), STEP_BYTES, Progress.NONE);
    }

    /** A record of the snapshot that cannot be read is found before anything is changed. */
    @Test
    void aDamagedRecordRefusesIt() throws IOException {
        CrashDirectory data = new CrashDirectory(1);
        Limited metadata = new Limited();
        Volume.create(config(), data, metadata, InstantSource.system());
        try (Volume volume = open(data, metadata)) {
            make(volume, "file", "content");
            long file = volume.lookup(Inode.ROOT, bytes("file")).inode();
            volume.setExtendedAttribute(file, bytes("user.a"), bytes("b"), SetMode.CREATE_OR_REPLACE);
            volume.forget(file, 1);
            volume.snapshots().create("old", 0, false);
            volume.unlink(Inode.ROOT, bytes("file"));
        }
        KeyValueStore sealed = KeyValueStores.sealed(metadata, config().keys());
        List<KeyValueStore.Stored> versions = new ArrayList<>();
        try (Cursor cursor = sealed.scan(Family.VERSION, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                versions.add(new KeyValueStore.Stored(cursor.key(), cursor.value()));
            }
        }
        // Two inodes, a name, an attribute and a page.
        assertEquals(5, versions.size());
        for (KeyValueStore.Stored version : versions) {
            byte[] sound = Objects.requireNonNull(version.value());
            put(sealed, version.key(), Births.stamped(ValueReader.UNREAD, Births.of(sound)));
            try (Volume volume = open(data, metadata)) {
                assertThrows(CorruptionException.class, () -> volume.rollback().begin("old", "before"));
                assertEquals(1, volume.snapshots().list().size());
            }
            put(sealed, version.key(), sound);
        }
        try (Volume volume = open(data, metadata)) {
            assertEquals(1, volume.rollback().begin("old", "before").backFiles());
        }
    }

    private static void put(KeyValueStore database, byte[] key, byte[] value) throws IOException {
        try (Batch batch = database.batch()) {
            batch.put(Family.VERSION, key, value);
            batch.commit();
        }
    }

    private Volume open(CrashDirectory data, Limited metadata) throws IOException {
        VolumeStores stores = new VolumeStores(data, metadata, new HeapChunkIndex(), InstantSource.system());
        return Volume.open(config(), stores, Verification.CHECKSUMS);
    }

    @Test
    void aCheckNamesItAndItCanBeTurned() throws IOException {
        VolumeConfig config = config();
        Volume.create(config);
        Map<String, String> old;
        Map<String, String> last;
        try (Volume volume = Volume.open(config)) {
            make(volume, "old", "content");
            volume.snapshots().create("old", 0, false);
            old = TreeDigest.of(volume, Inode.ROOT);
            make(volume, "last", "of before");
            volume.sync();
            last = TreeDigest.of(volume, Inode.ROOT);
            volume.rollback().begin("old", "before");
        }
        assertEquals(
                List.of(Finding.Kind.ROLLBACK),
                findings(config).stream().map(Finding::kind).toList());
        PosixException unknown = assertThrows(PosixException.class, () -> VolumeRollback.turn(config, "unknown"));
        assertEquals(Reason.ENOENT, unknown.reason());
        assertTrue(VolumeRollback.turn(config, "before"));
        try (Volume volume = Volume.open(config)) {
            assertEquals(last, TreeDigest.of(volume, Inode.ROOT));
            volume.rollback().begin("old", null);
        }
        // What must not change the volume has it finished first, as after a crash.
        try (Volume volume = Volume.openReadOnly(config, Verification.CHECKSUMS)) {
            assertEquals(old, TreeDigest.of(volume, Inode.ROOT));
            PosixException refused =
                    assertThrows(PosixException.class, () -> volume.rollback().begin("before", null));
            assertEquals(Reason.EROFS, refused.reason());
        }
        assertFalse(VolumeRollback.turn(config, "before"));
        assertEquals(List.of(), findings(config));
    }

    /**
     * A repair of files that are neither those of before nor those of the snapshot takes names out and gives others:
     * snapshots must have none of that, because the one that was made first takes the rollback back.
     */
    @Test
    void aRepairInItsMiddleChangesNoSnapshot() throws IOException {
        VolumeConfig config = config();
        Volume.create(config);
        Map<String, String> old;
        Map<String, String> last;
        try (Volume volume = Volume.open(config)) {
            for (int i = 0; i < FILES; i++) {
                make(volume, "old" + i, "");
            }
            volume.snapshots().create("old", 0, false);
            old = TreeDigest.of(volume, Inode.ROOT);
            for (int i = 0; i < FILES; i++) {
                volume.unlink(Inode.ROOT, bytes("old" + i));
                make(volume, "last" + i, i % 10 == 0 ? "content " + i : "");
            }
            volume.sync();
            last = TreeDigest.of(volume, Inode.ROOT);
            volume.rollback().begin("old", "before");
        }
        for (int turn = 0; turn < 3; turn++) {
            assertThrows(InterruptedIOException.class, () -> rollBackUntil(config, FILES));
            assertFalse(repair(config).isEmpty());
        }
        try (Volume volume = Volume.open(config)) {
            assertEquals(old, TreeDigest.of(volume, Inode.ROOT));
            assertEquals(List.of(), VolumeChecker.check(volume));
            volume.rollback().begin("before", null);
        }
        try (Volume volume = Volume.open(config)) {
            assertEquals(last, TreeDigest.of(volume, Inode.ROOT));
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
        assertEquals(List.of(), findings(config));
    }

    private static void rollBackUntil(VolumeConfig config, long most) throws IOException {
        KeyValueStore database =
                KeyValueStores.openRocksDb(config.locations().metadata(), 16 << 20, false, config.keys());
        try (MetadataStore store = MetadataStore.open(database, 1 << 20)) {
            Rollback.finish(store, Objects.requireNonNull(store.rollback()), STEP_BYTES, (stage, changed, of) -> {
                if (changed > most) {
                    throw new InterruptedIOException("the test stops it");
                }
            });
        }
    }

    private static List<String> repair(VolumeConfig config) throws IOException {
        return new OfflineCheck(config, (step, done, of) -> {}, InstantSource.system())
                .repair()
                .done();
    }

    private static List<Finding> findings(VolumeConfig config) throws IOException {
        return new OfflineCheck(config, (step, done, of) -> {}, InstantSource.system())
                .check()
                .findings();
    }
}
