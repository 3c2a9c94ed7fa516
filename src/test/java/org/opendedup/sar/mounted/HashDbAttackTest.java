package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * The fingerprint index is no source of truth: whatever happens to it, everything is readable and duplicates are found
 * again.
 */
class HashDbAttackTest {
    private static final int FILES = 2;
    private static final int FILE_BYTES = 2 << 20;
    /** Key of the hash database's format version. */
    private static final int VERSION = 2;

    @TempDir
    Path folder;

    /** The damage to the database. */
    private interface Attack {
        void on(Path hashDb) throws IOException;
    }

    private int round;

    @Test
    void aDamagedHashDbIsMadeAgainFromTheContainers() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("hashed")))) {
            volume.mount();
            write(volume, "file-");
            long stored = volume.figure("stats", "storedBytes");
            List<Attack> attacks = List.of(
                    hashDb -> Damage.cutOff(Damage.largest(Damage.files(hashDb, ".sst")), 1000),
                    hashDb -> Files.delete(hashDb.resolve("CURRENT")),
                    hashDb -> Files.delete(manifest(hashDb)),
                    hashDb -> Files.write(manifest(hashDb), Bytes.random(2, 500)));
            for (Attack attack : attacks) {
                volume.unmount();
                attack.on(volume.hashDb());
                volume.mount();
                checkEverythingReadsAndIsFoundAgain(volume, stored);
            }
        }
    }

    private void checkEverythingReadsAndIsFoundAgain(MountedVolume volume, long stored) throws IOException {
        round++;
        long before = volume.figure("stats", "storedBytes");
        for (int i = 0; i < FILES; i++) {
            byte[] bytes = Bytes.random(i, FILE_BYTES);
            Bytes.Comparison whole = new Bytes.Comparison(FILE_BYTES / 4096, 0, 0);
            assertEquals(whole, Bytes.compare(volume.mountPoint().resolve("file-" + i), bytes), "attack " + round);
            Path again = volume.mountPoint().resolve("again-" + round + "-" + i);
            Bytes.writeAndSync(again, bytes);
            assertEquals(whole, Bytes.compare(again, bytes), "attack " + round);
        }
        long grown = volume.figure("stats", "storedBytes") - before;
        assertTrue(grown < stored / 4, () -> "after attack " + round + " written again they took " + grown);
    }

    @Test
    void damagedBlocksOfTheHashDbCostDuplicatesUntilTheNextMountOnly() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("blocks")))) {
            volume.mount();
            write(volume, "file-");
            long stored = volume.figure("stats", "storedBytes");
            volume.unmount();
            flipEverywhere(Damage.largest(Damage.files(volume.hashDb(), ".sst")));
            volume.mount();
            write(volume, "missed-");
            volume.remount();

            checkEverythingReadsAndIsFoundAgain(volume, stored);
        }
    }

    private static void write(MountedVolume volume, String prefix) throws IOException {
        for (int i = 0; i < FILES; i++) {
            Bytes.writeAndSync(volume.mountPoint().resolve(prefix + i), Bytes.random(i, FILE_BYTES));
        }
    }

    @Test
    void aHashDbOfALaterVersionIsRefusedAndLeftAlone() throws IOException, RocksDBException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("later")))) {
            volume.mount();
            Bytes.writeAndSync(volume.mountPoint().resolve("file-1"), Bytes.random(1, FILE_BYTES));
            volume.unmount();
            setVersion(volume.hashDb(), VERSION + 1);

            Commands.Result refused = volume.tryMount(volume.mountPoint());

            assertEquals(1, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains(volume.hashDb().toString()), refused::output);
            assertTrue(refused.output().contains("version " + (VERSION + 1)), refused::output);
            setVersion(volume.hashDb(), VERSION);
            volume.mount();
            assertEquals(
                    new Bytes.Comparison(FILE_BYTES / 4096, 0, 0),
                    Bytes.compare(volume.mountPoint().resolve("file-1"), Bytes.random(1, FILE_BYTES)));
        }
    }

    private static void setVersion(Path hashDb, int version) throws RocksDBException {
        RocksDB.loadLibrary();
        try (Options options = new Options();
                FlushOptions flush = new FlushOptions();
                RocksDB database = RocksDB.open(options, hashDb.toString())) {
            database.put(new byte[] {'V'}, new byte[] {(byte) version});
            database.flush(flush);
        }
    }

    private static Path manifest(Path database) throws IOException {
        return database.resolve(Files.readString(database.resolve("CURRENT")).strip());
    }

    private static void flipEverywhere(Path file) throws IOException {
        for (long at = 100; at < Files.size(file) * 9 / 10; at += 1000) {
            Damage.flipBit(file, at);
        }
    }
}
