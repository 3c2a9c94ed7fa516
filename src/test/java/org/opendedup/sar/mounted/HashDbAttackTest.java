package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

    @Test
    void aDamagedHashDbIsMadeAgainAndOneOfALaterVersionIsRefusedAndLeftAlone() throws Exception {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("hashed")))) {
            volume.mount();
            write(volume, "file-");
            long stored = volume.figure("stats", "storedBytes");
            volume.unmount();
            Damage.cutOff(Damage.largest(Damage.files(volume.hashDb(), ".sst")), 1000);
            volume.mount();
            checkReads(volume, "file-");
            write(volume, "again-");
            checkReads(volume, "again-");
            long grown = volume.figure("stats", "storedBytes") - stored;
            assertTrue(grown < stored / 4, () -> "written again they took " + grown);

            volume.unmount();
            setVersion(volume.hashDb(), VERSION + 1);
            Commands.Result refused = volume.tryMount(volume.mountPoint());
            assertEquals(1, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains(volume.hashDb().toString()), refused::output);
            assertTrue(refused.output().contains("version " + (VERSION + 1)), refused::output);
            setVersion(volume.hashDb(), VERSION);
            volume.mount();
            checkReads(volume, "file-");
        }
    }

    private static void write(MountedVolume volume, String prefix) throws IOException {
        for (int i = 0; i < FILES; i++) {
            Bytes.writeAndSync(volume.mountPoint().resolve(prefix + i), Bytes.random(i, FILE_BYTES));
        }
    }

    private static void checkReads(MountedVolume volume, String prefix) throws IOException {
        for (int i = 0; i < FILES; i++) {
            Bytes.Comparison found =
                    Bytes.compare(volume.mountPoint().resolve(prefix + i), Bytes.random(i, FILE_BYTES));
            assertEquals(new Bytes.Comparison(FILE_BYTES / 4096, 0, 0), found, prefix + i);
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
}
