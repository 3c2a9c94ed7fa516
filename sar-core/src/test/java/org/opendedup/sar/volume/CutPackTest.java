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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A mount notices packs that were cut short while the volume was not mounted, before anything reads them: what is
 * written then does not refer to the bytes that are gone.
 */
@Timeout(120)
class CutPackTest extends OpenVolumeTrial {
    private Path pack;

    @BeforeEach
    void make() throws IOException {
        store("a", 9 * MIB);
        volume.close();
        pack = packs().get(0);
    }

    private void openCutTo(long bytes) throws IOException {
        Files.copy(pack, folder.resolve("aside"));
        try (FileChannel file = FileChannel.open(pack, StandardOpenOption.WRITE)) {
            file.truncate(bytes);
        }
        open();
    }

    private void awaitDamage() throws InterruptedException {
        while (unhealedChunks() == 0) {
            Thread.sleep(10);
        }
    }

    @Test
    void whatIsWrittenDoesNotReferToTheBytesThatAreGone() throws Exception {
        openCutTo(Files.size(pack) / 2);
        awaitDamage();
        assertFalse(volume.maintenance().damage().list((step, done, of) -> {}).isClean());
        write("again", contents.get("a"));
        assertArrayEquals(contents.get("a"), read("again"));
        assertTrue(canRead("a", 0, MIB), "what is ahead of the cut can be read");
        heal();
        assertWhole();
        reopen();
        assertWhole();
    }

    @Test
    void onlyWhatLiesBehindTheCutIsMarked() throws Exception {
        openCutTo(Files.size(pack) * 3 / 4);
        awaitDamage();
        volume.context().damaged().lookAtPacks();
        int readable = 0;
        int parts = 90;
        int part = 9 * MIB / parts;
        for (int i = 0; i < parts; i++) {
            readable += canRead("a", i * part, part) ? 1 : 0;
        }
        assertTrue(readable > parts / 2 && readable < parts, readable + " of " + parts + " parts can be read");
        long marked = unhealedChunks();
        scrub();
        assertEquals(marked, unhealedChunks(), "a scrub finds the same");
    }

    @Test
    void aPackThatIsPutBackIsSoundAfterAPass() throws Exception {
        openCutTo(Files.size(pack) / 2);
        awaitDamage();
        assertThrows(IOException.class, () -> read("a"));
        volume.close();
        Files.move(folder.resolve("aside"), pack, StandardCopyOption.REPLACE_EXISTING);
        open();
        heal();
        assertWhole();
    }

    @Test
    void aWholePackIsNotMarked() throws Exception {
        openCutTo(Files.size(pack));
        volume.context().damaged().lookAtPacks();
        assertEquals(0, unhealedChunks());
        write("again", contents.get("a"));
        assertEquals(9L * MIB, volume.statistics().uniqueBytes(), "it is deduplicated");
        assertWhole();
    }
}
