package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;

/**
 * A mount notices packs that were cut short while the volume was not mounted, before anything reads them: what is
 * written then does not refer to the bytes that are gone.
 */
@Timeout(120)
class CutPackTest {
    @TempDir
    Path folder;

    private HealVolume volume;
    private Path pack;

    @BeforeEach
    void make() throws IOException {
        volume = new HealVolume(folder.resolve("volume"), TestSeed.next());
        volume.store("a", 9 * HealVolume.MIB);
        volume.close();
        pack = volume.packs().get(0);
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    private void openCutTo(long bytes) throws IOException {
        Files.copy(pack, folder.resolve("aside"));
        try (FileChannel file = FileChannel.open(pack, StandardOpenOption.WRITE)) {
            file.truncate(bytes);
        }
        volume.open();
    }

    private void awaitDamage() throws InterruptedException {
        while (volume.damagedChunks() == 0) {
            Thread.sleep(10);
        }
    }

    @Test
    void whatIsWrittenDoesNotReferToTheBytesThatAreGone() throws Exception {
        openCutTo(Files.size(pack) / 2);
        awaitDamage();
        assertFalse(volume.damage().isClean());
        volume.write("again", volume.contents.get("a"));
        assertArrayEquals(volume.contents.get("a"), volume.read("again"));
        assertTrue(volume.canRead("a", 0, HealVolume.MIB), "what is ahead of the cut can be read");
        volume.heal();
        volume.assertWhole();
        volume.reopen();
        volume.assertWhole();
    }

    @Test
    void onlyWhatLiesBehindTheCutIsMarked() throws Exception {
        openCutTo(Files.size(pack) * 3 / 4);
        awaitDamage();
        volume.volume.context().damaged().lookAtPacks();
        int readable = 0;
        int parts = 90;
        int part = 9 * HealVolume.MIB / parts;
        for (int i = 0; i < parts; i++) {
            readable += volume.canRead("a", i * part, part) ? 1 : 0;
        }
        assertTrue(readable > parts / 2 && readable < parts, readable + " of " + parts + " parts can be read");
        long marked = volume.damagedChunks();
        volume.scrub();
        assertEquals(marked, volume.damagedChunks(), "a scrub finds the same");
    }

    @Test
    void aPackThatIsPutBackIsSoundAfterAPass() throws Exception {
        openCutTo(Files.size(pack) / 2);
        awaitDamage();
        assertThrows(IOException.class, () -> volume.read("a"));
        volume.close();
        Files.move(folder.resolve("aside"), pack, StandardCopyOption.REPLACE_EXISTING);
        volume.open();
        volume.heal();
        volume.assertWhole();
    }

    @Test
    void aWholePackIsNotMarked() throws Exception {
        openCutTo(Files.size(pack));
        volume.volume.context().damaged().lookAtPacks();
        assertEquals(0, volume.damagedChunks());
        volume.write("again", volume.contents.get("a"));
        assertEquals(9L * HealVolume.MIB, volume.volume.statistics().uniqueBytes(), "it is deduplicated");
        volume.assertWhole();
    }
}
