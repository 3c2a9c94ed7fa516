package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.check.TableRebuild;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.backup.MetadataMend;
import org.opendedup.sar.volume.backup.MetadataReport;
import org.opendedup.sar.volume.backup.MetadataRestore;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.config.OtherHistory;

/** Checks, repairs and backups of the metadata of a volume of chunks. */
@Timeout(300)
final class ChunkCheckTest {
    private static final long CHUNKS = 120;

    @MemoryFolder
    private Path folder;

    private ChunkFolder chunks;

    @BeforeEach
    void makeTwoContainers() throws IOException {
        chunks = new ChunkFolder(folder, null);
        chunks.put(0, CHUNKS);
        chunks.reopen();
        chunks.put(CHUNKS, 2 * CHUNKS);
        chunks.volume.close();
    }

    @AfterEach
    void close() throws IOException {
        chunks.close();
    }

    private OfflineCheck offline() {
        return new OfflineCheck(chunks.config, (step, done, of) -> {}, InstantSource.system());
    }

    private static List<Kind> kinds(StoredVolume.Report report) {
        return report.findings().stream().map(Finding::kind).distinct().toList();
    }

    /** Changes the metadata of the closed volume. */
    private void change(Change change) throws IOException {
        try (MetadataStore metadata = MetadataStore.open(database(), 1 << 20)) {
            change.run(metadata);
            metadata.commit(metadata.freeze());
        }
    }

    private interface Change {
        void run(MetadataStore metadata) throws IOException;
    }

    @Test
    void aSoundVolumeHasNoFindingAndKeepsItsChunks() throws IOException {
        StoredVolume.Report report = offline().check();
        assertEquals(List.of(), report.findings());
        assertEquals(2, report.containers());
        chunks.open();
        chunks.assertWhole();
        chunks.volume.collect(new CollectionLimits(0, false), (done, of, returned) -> true);
        chunks.assertWhole();
    }

    @Test
    void aRepairByRecipesIsRefusedAndChangesNothing() throws IOException {
        String message =
                assertThrows(IOException.class, () -> offline().repair()).getMessage();
        assertTrue(message.contains("chunks without files"), message);
        assertEquals(List.of(), offline().check().findings());
        chunks.open();
        chunks.assertWhole();
    }

    @Test
    void lengthsOfTheCountsAndTotalsAreCompared() throws IOException {
        long chunk = chunks.locations.get(3L);
        change(metadata -> metadata.counts().addNew(chunk, 17, 0));
        StoredVolume.Report report = offline().check();
        assertEquals(List.of(Kind.REFERENCES), kinds(report), report::toString);
        assertTrue(
                report.findings().stream()
                        .anyMatch(finding -> finding.what().contains("bytes and its counts say 17")
                                && finding.containers().contains(ChunkId.container(chunk))
                                && finding.mend().contains("--restore-metadata")),
                report::toString);
    }

    @Test
    void missingPacksAndChunksAreFound() throws IOException {
        Path pack = PackedContainer.packs(chunks.config.locations().data()).get(0);
        byte[] bytes = Files.readAllBytes(pack);
        Files.delete(pack);
        assertEquals(List.of(Kind.MISSING_PACK), kinds(offline().check()));
        Files.write(pack, bytes);
        assertEquals(List.of(), offline().check().findings(), "control: it is back");
    }

    private KeyValueStore database() throws IOException {
        return KeyValueStores.sealed(
                KeyValueStores.openRocksDb(chunks.config.locations().metadata(), 8 << 20, false), chunks.config.keys());
    }

    @Test
    void theCheckInUseComparesTheIndex() throws IOException {
        assumeTrue(chunks.config.keys() == null, "such an entry is no hint on an encrypted volume: ProvenHintsTest");
        chunks.open();
        chunks.assertWhole();
        byte[] fingerprint = ChunkTrial.fingerprint(ChunkTrial.chunk(5));
        chunks.volume.engine().index().insert(fingerprint, 0, chunks.locations.get(6L));
        StoredVolume.Report report = chunks.volume.maintenance().check().run((step, done, of) -> {});
        assertEquals(List.of(Kind.INDEX), kinds(report), report::toString);
    }

    @Test
    void theContainerTableIsMadeAnewFromThePacks() throws IOException {
        TableRebuild.Report none = offline().rebuildContainers();
        assertEquals(0, none.changes(), none::toString);
        long container = ChunkId.container(chunks.locations.get(0L));
        try (KeyValueStore database = database()) {
            ContainerRecords records = ContainerRecords.open(database);
            try (ContainerRecords.Replacement table = records.replace()) {
                records.forEachEntry((id, entry) -> {
                    if (id == container) {
                        table.remove(id);
                    } else {
                        table.keep(entry);
                    }
                });
                table.commit();
            }
        }
        assertTrue(kinds(offline().check()).contains(Kind.NO_ENTRY), "control: the entry is gone");
        TableRebuild.Report report = offline().rebuildContainers();
        assertTrue(report.changes() > 0, report::toString);
        assertEquals(List.of(), offline().check().findings());
        chunks.open();
        chunks.assertWhole();
    }

    private Path backups() {
        return MetadataBackups.folderIn(chunks.config.locations().data());
    }

    @Test
    void aBackupOfTheMetadataBringsTheVolumeBack() throws IOException {
        chunks.open();
        Backup backup = chunks.volume.maintenance().backups().backUp(4);
        chunks.volume.close();
        Path metadata = chunks.config.locations().metadata();
        try (var files = Files.list(metadata)) {
            for (Path file : files.filter(Files::isRegularFile)
                    .filter(one -> one.toString().endsWith(".sst"))
                    .toList()) {
                Files.write(file, new byte[100]);
            }
        }
        assertThrows(IOException.class, () -> offline().check(), "control: the metadata cannot be read");
        MetadataReport report =
                MetadataRestore.restore(chunks.config.locations(), chunks.config.keys(), backups(), backup);
        assertEquals(0, report.missingContainers(), report::toString);
        assertEquals(List.of(), offline().check().findings());
        chunks.open();
        chunks.assertWhole();
        String refused = assertThrows(
                        IOException.class,
                        () -> chunks.volume.collect(new CollectionLimits(0, false), (done, of, returned) -> true))
                .getMessage();
        assertTrue(refused.contains("sdfscli " + chunks.config.name() + " metadata-backup --accept-restored"), refused);
        assertTrue(
                OtherHistory.giveUp(FileDirectory.open(chunks.config.locations().data())));
        chunks.volume.collect(new CollectionLimits(0, false), (done, of, returned) -> true);
        chunks.assertWhole();
    }

    /** The data location is of a later epoch than the metadata then: recipes are asked whose the containers are. */
    @Test
    void theContainerTableIsMadeAnewAfterARestore() throws IOException {
        chunks.open();
        Backup backup = chunks.volume.maintenance().backups().backUp(4);
        chunks.reopen();
        chunks.volume.close();
        MetadataRestore.restore(chunks.config.locations(), chunks.config.keys(), backups(), backup);
        TableRebuild.Report report = offline().rebuildContainers();
        assertEquals(0, report.missingChunks(), report::toString);
        assertEquals(List.of(), offline().check().findings());
        chunks.open();
        chunks.assertWhole();
    }

    @Test
    void aDamagedTableOfTheMetadataIsMendedFromABackup() throws IOException {
        chunks.open();
        chunks.volume.maintenance().backups().backUp(4);
        chunks.volume.close();
        Path table;
        try (var files = Files.list(chunks.config.locations().metadata())) {
            table = files.filter(one -> one.toString().endsWith(".sst"))
                    .sorted()
                    .findFirst()
                    .orElseThrow();
        }
        byte[] bytes = Files.readAllBytes(table);
        bytes[bytes.length / 2] ^= 0x10;
        Files.write(table, bytes);
        MetadataMend.Report report = MetadataMend.mend(
                chunks.config.locations(), chunks.config.keys(), List.of(backups()), (step, done, of) -> {});
        assertFalse(report.mended().isEmpty());
        assertEquals(List.of(), offline().check().findings());
        chunks.open();
        chunks.assertWhole();
    }

    @Test
    void whatCountsReferencesDoesNotReadAVolumeOfChunks() throws IOException {
        try (KeyValueStore database = database()) {
            assertThrows(IOException.class, () -> MetadataRecords.of(database));
        }
    }
}
