package org.opendedup.sar.volume.backup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/**
 * A backup of the metadata comes back, and names changed bytes on the fast tier. What is read is what the file had at
 * the time of the backup, or an error.
 */
@Timeout(120)
class ChangedBytesBackupTest {
    private static final int FILE_BYTES = 1 << 20;
    private static final int AT = 100_000;
    private static final int LENGTH = 50_000;
    private static final String NAME = "file";

    private final Random random = new Random(TestSeed.next());

    @MemoryFolder
    private Path folder;

    private VolumeConfig config;
    private Volume volume;
    private final byte[] content = new byte[FILE_BYTES];
    private byte[] backedUp;

    @BeforeEach
    void changeAMigratedFileAndBackUp() throws IOException {
        config = VolumeConfigs.in(folder, 100L << 30, Chunking.SHA256)
                .withSsd(
                        folder.resolve("ssd"),
                        new HotSettings(true, 64 << 20, 2, 128 << 10, true, 1000, HotSettings.Policy.REFERENCE_COUNT))
                .withRaw(new RawSettings(Placement.TDDFS, 1L << 30, 85, 70, 0));
        Volume.create(config);
        volume = Volume.open(config);
        random.nextBytes(content);
        volume.makeNode(Inode.ROOT, NAME.getBytes(UTF_8), 0100644, 0, new Owner(0, 0));
        write(0, FILE_BYTES);
        assertTrue(volume.fastTier().migrate(inode()));
        change(AT, LENGTH);
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    private long inode() throws IOException {
        long inode = volume.lookup(Inode.ROOT, NAME.getBytes(UTF_8)).inode();
        volume.forget(inode, 1);
        return inode;
    }

    private void write(int at, int length) throws IOException {
        OpenFile file = volume.open(inode(), true);
        volume.write(file, at, ByteBuffer.wrap(content, at, length));
        volume.close(file);
        volume.sync();
    }

    private void change(int at, int length) throws IOException {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        System.arraycopy(bytes, 0, content, at, length);
        write(at, length);
    }

    private void backUp() throws IOException {
        assertEquals(LENGTH, changedBytes());
        volume.maintenance().backups().backUp(4);
        backedUp = content.clone();
    }

    private long changedBytes() throws IOException {
        return volume.fastTier().explain(inode()).changedBytes();
    }

    private void restore() throws IOException {
        volume.close();
        Path data = config.locations().data();
        List<Backup> all = MetadataBackups.automatic(data).backups();
        MetadataRestore.restore(config.locations(), config.keys(), MetadataBackups.folderIn(data), all.get(0));
        volume = Volume.open(config);
    }

    private byte[] read(int at, int length) throws IOException {
        OpenFile file = volume.open(inode(), false);
        try {
            byte[] found = new byte[length];
            assertEquals(length, volume.read(file, at, ByteBuffer.wrap(found)));
            return found;
        } finally {
            volume.close(file);
        }
    }

    private static byte[] part(byte[] of, int at, int length) {
        return Arrays.copyOfRange(of, at, at + length);
    }

    /** Checks what was not changed since the backup. */
    private void assertRestIsThere() throws IOException {
        assertArrayEquals(part(backedUp, 0, AT), read(0, AT));
        int end = AT + LENGTH;
        assertArrayEquals(part(backedUp, end, FILE_BYTES - end), read(end, FILE_BYTES - end));
    }

    /** The changed bytes are those of the backup, or an error. */
    private void assertNothingElseIsRead() throws IOException {
        assertRestIsThere();
        byte[] found;
        try {
            found = read(AT, LENGTH);
        } catch (IOException e) {
            return;
        }
        assertArrayEquals(part(backedUp, AT, LENGTH), found);
    }

    @Test
    void whatIsChangedAgainAfterABackupIsNotRead() throws IOException {
        backUp();
        change(AT + LENGTH / 4, LENGTH / 2);
        change(AT + LENGTH / 2, 10);
        assertArrayEquals(content, read(0, FILE_BYTES));
        restore();
        assertNothingElseIsRead();
        // A backup that came back is one of the history that goes on.
        change(AT, LENGTH);
        assertArrayEquals(part(content, AT, LENGTH), read(AT, LENGTH));
    }

    @Test
    void controlWithoutTheHoldingBackTheNewerBytesAreReadAsIfTheyWereThoseOfTheBackup() throws IOException {
        volume.maintenance().backups().holdBack(MetadataBackups.Cut::make);
        backUp();
        change(AT, LENGTH);
        restore();
        assertFalse(Arrays.equals(part(backedUp, AT, LENGTH), read(AT, LENGTH)));
        assertRestIsThere();
    }

    @Test
    void whatWasMadeInAnEarlierMountIsNotWrittenAgain() throws IOException {
        backUp();
        volume.close();
        volume = Volume.open(config);
        change(AT + LENGTH / 4, LENGTH / 2);
        restore();
        assertNothingElseIsRead();
    }

    /** The file is on the fast tier again, soon after the first change. */
    @Test
    void aFileThatWasBackedUpKeepsChangesOnTheFastTierWhenItWasMigratedAgain() throws IOException {
        backUp();
        change(AT, LENGTH);
        assertEquals(0, changedBytes());
        change(AT, LENGTH);
        assertEquals(LENGTH, changedBytes());
    }

    @Test
    void changedBytesThatWereMigratedAfterTheBackupAreAnErrorUntilTheFileIsWritten() throws IOException {
        backUp();
        migrate();
        restore();
        assertRestIsThere();
        assertThrows(IOException.class, () -> read(AT, LENGTH));
        assertThrows(IOException.class, () -> read(AT, LENGTH), "also at a second opening");
        change(AT, LENGTH);
        assertArrayEquals(part(content, AT, LENGTH), read(AT, LENGTH));
    }

    /** Migrates what was changed; its backing file is deleted. */
    private void migrate() throws IOException {
        assertTrue(volume.fastTier().migrate(inode()));
        volume.commit();
        volume.context().raws().deleteDead();
    }

    /** Another backing file, of the history that the restore has ended, is not taken for that of the backup. */
    @Test
    void changesOfTheOtherHistoryAreNotRead() throws IOException {
        backUp();
        migrate();
        change(AT, LENGTH);
        assertEquals(LENGTH, changedBytes());
        restore();
        assertRestIsThere();
        assertThrows(IOException.class, () -> read(AT, LENGTH));
        List<Long> backingFiles = new ArrayList<>();
        volume.context().raws().folder().forEach(backingFiles::add);
        assertEquals(1, backingFiles.size(), "it stays for who goes back to that history");
    }

    @Test
    void controlFilesThatDropWhatIsLostHaveBytesOfBeforeTheBackup() throws IOException {
        backUp();
        migrate();
        restore();
        volume.context().raws().dropLostChanges();
        assertFalse(Arrays.equals(part(backedUp, AT, LENGTH), read(AT, LENGTH)));
    }
}
