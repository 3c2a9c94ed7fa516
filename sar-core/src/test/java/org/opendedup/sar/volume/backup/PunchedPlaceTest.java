package org.opendedup.sar.volume.backup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.volume.GarbageTrial;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.OtherHistory;

/**
 * A power cut while a collection gives old places back leaves any part of them, and metadata from before name them: a
 * restore takes what is alive from where it is whole.
 */
@Timeout(120)
class PunchedPlaceTest {
    private static final int BLOCK = 64 << 10;

    @MemoryFolder
    Path folder;

    private BackupTrial trial;

    @AutoClose
    private Volume volume;

    private byte[] keep;
    private byte[] gone;
    /** Packs with old places, as they were. */
    private final SortedMap<Path, byte[]> packs = new TreeMap<>();

    private final List<StoredContainer> places = new ArrayList<>();

    @BeforeEach
    void collectAfterABackup() throws IOException {
        trial = new BackupTrial(folder, TestSeed.next());
        gone = trial.random(32 * BLOCK);
        keep = new byte[gone.length / 2];
        for (int block = 0; block < 16; block++) {
            System.arraycopy(gone, 2 * block * BLOCK, keep, block * BLOCK, BLOCK);
        }
        try (Volume made = trial.open()) {
            trial.write(made, "gone", gone);
            trial.write(made, "keep", keep);
        }
        try (KeyValueStore database = KeyValueStores.sealed(
                KeyValueStores.openRocksDb(trial.config.locations().metadata(), 64 << 20, false),
                trial.config.keys())) {
            ContainerRecords.open(database).forEachEntry((container, entry) -> {
                StoredContainer place = Objects.requireNonNull(entry).stored();
                places.add(place);
                packs.put(pack(place), Files.readAllBytes(pack(place)));
            });
        }
        volume = trial.open();
        volume.maintenance().backups().backUp(4);
        trial.remove(volume, "gone");
        assertTrue(BackupTrial.collect(volume).rewritten() > 0);
        volume.close();
    }

    private Path pack(StoredContainer stored) {
        return trial.config.locations().data().resolve(PackFormat.fileName(stored.pack()));
    }

    /** Puts a part of each old place back, given in percent. */
    private void leave(int from, int end) throws IOException {
        for (StoredContainer place : places) {
            try (RandomAccessFile file = new RandomAccessFile(pack(place).toFile(), "rw")) {
                int first = (int) (place.bytes() * from / 100) & -4096;
                int last = end == 100 ? (int) place.bytes() : (int) (place.bytes() * end / 100) & -4096;
                file.seek(place.offset() + first);
                file.write(packs.get(pack(place)), (int) place.offset() + first, last - first);
            }
        }
    }

    private MetadataReport restore() throws IOException {
        Path backups = MetadataBackups.folderIn(trial.config.locations().data());
        var all = MetadataBackups.automatic(trial.config.locations().data()).backups();
        return MetadataRestore.restore(trial.config.locations(), trial.config.keys(), backups, all.get(all.size() - 1));
    }

    private void reopenAsTheOnlyHistory() throws IOException {
        OtherHistory.giveUp(FileDirectory.open(trial.config.locations().data()));
        volume.close();
        volume = trial.open();
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0, 25", "0, 60", "40, 100", "75, 100", "98, 100", "20, 70"})
    void whatIsAliveIsTakenFromWhereItIsWhole(int from, int end) throws IOException {
        leave(from, end);
        MetadataReport report = restore();
        assertTrue(report.damagedFiles().stream().anyMatch(file -> file.paths().contains("/gone")), report::toString);
        volume = trial.open();
        reopenAsTheOnlyHistory();
        volume.maintenance().heal().run(soFar -> true);
        assertArrayEquals(keep, GarbageTrial.read(volume, "keep"));
        BackupTrial.collect(volume);
        volume.close();
        volume = trial.open();
        assertArrayEquals(keep, GarbageTrial.read(volume, "keep"));
    }

    /** The control: with all of the old places nothing is damaged, and nothing is said. */
    @Test
    void controlAWholePlaceIsKept() throws IOException {
        leave(0, 100);
        MetadataReport report = restore();
        assertEquals(List.of(), report.damagedFiles(), report::toString);
        assertEquals(0, report.movedContainers(), report::toString);
        volume = trial.open();
        reopenAsTheOnlyHistory();
        assertArrayEquals(keep, GarbageTrial.read(volume, "keep"));
        assertArrayEquals(gone, GarbageTrial.read(volume, "gone"));
    }
}
