package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/**
 * The metadata is a source of truth: damage to it is reported, never repaired by guessing, and no empty volume replaces
 * it.
 */
class MetadataAttackTest {
    private static final int FILES = 60;
    private static final int FILE_BYTES = 20_000;

    @TempDir
    Path folder;

    /** The damage to the database. */
    private interface Attack {
        void on(Path metadata) throws IOException;
    }

    @Test
    void aMetadataDatabaseThatLacksAPartIsRefusedAndContainersAreLeftAlone() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("lacking")))) {
            fill(volume);
            volume.remount();
            volume.unmount();
            Path kept = folder.resolve("kept");
            Damage.copyTree(volume.metadata(), kept);
            Map<Path, Long> containers = Damage.checksums(volume.data());
            List<Attack> attacks = List.of(
                    metadata -> Files.delete(metadata.resolve("CURRENT")),
                    metadata -> Damage.cutOff(largestTable(metadata), Files.size(largestTable(metadata)) / 2));
            for (Attack attack : attacks) {
                Damage.copyTree(kept, volume.metadata());
                attack.on(volume.metadata());

                Commands.Result refused = volume.tryMount(volume.mountPoint());

                int number = attacks.indexOf(attack);
                assertEquals(1, refused.exitCode(), () -> "attack " + number + ": " + refused.output());
                assertTrue(refused.output().contains(volume.metadata().toString()), refused::output);
                assertFalse(volume.isMounted());
                assertEquals(containers, Damage.checksums(volume.data()));
            }
            Damage.copyTree(kept, volume.metadata());
            volume.mount();
            assertEquals(0, refusedFiles(volume));
        }
    }

    @Test
    void aFlippedBitInAMetadataTableGivesErrorsAndNeverWrongBytes() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("flipped")))) {
            fill(volume);
            volume.remount();
            volume.unmount();
            Path kept = folder.resolve("kept");
            Damage.copyTree(volume.metadata(), kept);
            int noticed = 0;
            for (int third = 0; third < 3; third++) {
                Damage.copyTree(kept, volume.metadata());
                for (Path table : Damage.files(volume.metadata(), ".sst")) {
                    Damage.flipBit(table, Files.size(table) * third / 3 + 10);
                }
                noticed += isRefusedOrReadsRight(volume) ? 1 : 0;
            }
            assertTrue(noticed > 0, "no flip was noticed");
        }
    }

    @Test
    void aFlippedBitInTheLogAfterAKillLosesNoSyncedFileInSilence() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("logged")))
                .inItsOwnProcess()) {
            fill(volume);
            volume.kill();
            Path kept = folder.resolve("kept");
            Damage.copyTree(volume.metadata(), kept);
            Path log = Damage.largest(Damage.files(volume.metadata(), ".log"));
            assertTrue(Files.size(log) > FILES * 10, log::toString);
            Damage.flipBit(log, Files.size(log) / 2);
            assertTrue(isRefusedOrReadsRight(volume), "the flip was not noticed");
            // The control: without damage the log restores everything.
            Damage.copyTree(kept, volume.metadata());
            volume.mount();
            assertEquals(0, refusedFiles(volume));
        }
    }

    /** Mounts if possible. Returns whether damage was detected. */
    private static boolean isRefusedOrReadsRight(MountedVolume volume) throws IOException {
        Commands.Result result = volume.tryMount(volume.mountPoint());
        if (result.exitCode() != 0) {
            assertTrue(result.output().contains(volume.metadata().toString()), result::output);
            assertFalse(volume.isMounted());
            return true;
        }
        volume.adopt();
        boolean noticed = refusedFiles(volume) > 0;
        volume.unmount();
        return noticed;
    }

    private static void fill(MountedVolume volume) throws IOException {
        volume.mount();
        for (int i = 0; i < FILES; i++) {
            Bytes.writeAndSync(volume.mountPoint().resolve("file-" + i), Bytes.random(i, FILE_BYTES));
        }
    }

    /** Number of files that could not be read completely; none may be missing or wrong. */
    private static int refusedFiles(MountedVolume volume) throws IOException {
        int refused = 0;
        for (int i = 0; i < FILES; i++) {
            try {
                Bytes.Comparison found =
                        Bytes.compare(volume.mountPoint().resolve("file-" + i), Bytes.random(i, FILE_BYTES));
                assertEquals(0, found.wrong(), "file " + i);
                refused += found.refused() > 0 ? 1 : 0;
            } catch (NoSuchFileException e) {
                throw new AssertionError("a synced file is gone", e);
            } catch (IOException e) {
                refused++;
            }
        }
        return refused;
    }

    private static Path largestTable(Path metadata) throws IOException {
        return Damage.largest(Damage.files(metadata, ".sst"));
    }
}
