package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.index.ChunkIndex;

/** Containers whose pack is missing, or ends before they do, are healed with what is found of their content. */
@Timeout(120)
class MissingPackHealTest extends OpenVolumeTrial {
    private static final int PART = 300 << 10;

    private Path pack;

    @BeforeEach
    void make() throws IOException {
        store("a", 3 * MIB);
        volume.close();
        pack = packs().get(0);
        open();
        store("other", MIB);
    }

    private Path takeAway() throws IOException {
        volume.close();
        Path aside = Files.move(pack, folder.resolve("aside"));
        open();
        assertThrows(IOException.class, () -> read("a"), "control: it is missing");
        return aside;
    }

    private void assertPackIsMissed(boolean isMissed) throws IOException {
        volume.context().damaged().noteMissingPacks();
        assertEquals(isMissed ? 1 : 0, volume.context().damaged().missingPacks());
        assertEquals(
                isMissed ? 1 : 0,
                volume.context().metadata().damage().missingPacks().size());
    }

    @Test
    void contentThatIsWrittenAgainHealsAll() throws IOException {
        takeAway();
        assertPackIsMissed(true);
        HealReport none = heal();
        assertEquals(0, none.healedChunks(), none::toString);
        assertTrue(none.unhealedChunks() > 0, none::toString);
        assertPackIsMissed(true);
        assertEquals(0, unhealedChunks(), "a missing pack marks nothing: it may come back");
        write("again", contents.get("a"));
        HealReport healed = heal();
        assertEquals(List.of(), healed.unhealed());
        assertTrue(healed.fromCopies() > 0, healed::toString);
        assertPackIsMissed(false);
        assertWhole();
        reopen();
        assertPackIsMissed(false);
        assertWhole();
    }

    @Test
    void theListsOfTheIndexLastUntilALaterMount() throws IOException {
        takeAway();
        write("again", contents.get("a"));
        reopen();
        reopen();
        assertEquals(List.of(), heal().unhealed());
        assertWhole();
    }

    @Test
    void whatIsNotFoundIsLostAndComesBackWithThePack() throws IOException {
        Path aside = takeAway();
        writeBegin("a", PART, "part");
        HealReport report = heal();
        assertTrue(report.fromCopies() > 0, report::toString);
        assertTrue(report.unhealedChunks() > 0, report::toString);
        assertTrue(canRead("a", 0, 100 << 10));
        assertThrows(IOException.class, () -> read("a"));
        assertPackIsMissed(true);
        assertEquals(List.of(), VolumeChecker.check(volume));
        GarbageTrial.collect(volume, 0);
        reopen();
        assertPackIsMissed(true);
        assertTrue(canRead("a", 0, 100 << 10));
        volume.close();

        Files.createDirectories(pack.getParent());
        Files.move(aside, pack);
        open();
        assertThrows(IOException.class, () -> read("a"), "the old writing is not taken for the new one");
        GarbageTrial.collect(volume, 0);
        assertTrue(Files.exists(pack), "a collection leaves what may be needed");
        assertEquals(List.of(), heal().unhealed());
        assertWhole();
        assertPackIsMissed(false);
        GarbageTrial.collect(volume, 0);
        assertFalse(Files.exists(pack), "nothing needs it any more");
        reopen();
        assertWhole();
    }

    @Test
    void aPackThatIsBackBeforeAPassNeedsNone() throws IOException {
        Path aside = takeAway();
        write("again", contents.get("a"));
        volume.close();
        Files.createDirectories(pack.getParent());
        Files.move(aside, pack);
        open();
        assertEquals(0, heal().containers());
        assertWhole();
    }

    @Test
    void aPackThatIsPutBackIsNotMissedAnyMore() throws IOException {
        Path aside = takeAway();
        write("again", contents.get("a"));
        assertTrue(volume.context().damaged().missing() > 0, "control: it is missed");
        Files.createDirectories(pack.getParent());
        Files.move(aside, pack);
        assertTrue(scrub().isClean());
        assertEquals(0, volume.context().damaged().missing());
        assertWhole();
    }

    /** Whoever asks how the volume is has it looked for. */
    @Test
    void aPackThatIsPutBackIsFoundWithoutACommand() throws IOException {
        Path aside = takeAway();
        assertTrue(volume.condition().missingContainers() > 0, "control: it is missed");
        Files.createDirectories(pack.getParent());
        Files.move(aside, pack);
        while (volume.condition().missingContainers() > 0) {
            Thread.onSpinWait();
        }
        assertWhole();
    }

    @Test
    void whatNoFileNeedsIsNotMissedAnyMore() throws IOException {
        takeAway();
        assertTrue(volume.context().damaged().missing() > 0, "control: it is missed");
        remove("a");
        GarbageTrial.collect(volume, 0);
        assertPackIsMissed(false);
        assertEquals(0, volume.context().damaged().missing());
    }

    @Test
    void aPackThatEndsInTheMiddleOfAContainerIsHealed() throws IOException {
        volume.close();
        try (RandomAccessFile file = new RandomAccessFile(pack.toFile(), "rw")) {
            file.setLength(file.length() / 2);
        }
        open();
        assertThrows(IOException.class, () -> read("a"));
        writeBegin("a", PART, "part");
        HealReport partly = heal();
        assertTrue(partly.unhealedChunks() > 0, partly::toString);
        assertTrue(canRead("a", 0, 100 << 10));
        write("again", contents.get("a"));
        assertEquals(List.of(), heal().unhealed());
        assertWhole();
        reopen();
        assertWhole();
    }

    @Test
    void withoutTheIndexTheFingerprintsAreUnknownAndAPassSaysSo() throws IOException {
        volume.close();
        Files.delete(pack);
        try (Stream<Path> files = Files.walk(config.locations().hashDb())) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.delete(file);
            }
        }
        open();
        write("again", contents.get("a"));
        HealReport report = heal();
        assertEquals(0, report.healedChunks(), report::toString);
        assertTrue(report.unhealed().get(0).reason().contains("the index does not have"), report::toString);
        assertThrows(IOException.class, () -> read("a"));
        assertPackIsMissed(true);
    }

    @Test
    void fingerprintsThatRecipesContradictAreNotUsed() throws IOException {
        long container = containers().get(0).id();
        SealedContainer directory = volume.context().containers().directory(container);
        ChunkIndex index = volume.context().collector().index();
        byte[] table = index.frameTable(container);
        BitSet all = new BitSet();
        all.set(0, directory.slots());
        index.remove(container, directory.fingerprints(), all);
        index.uncover(container);
        for (int slot = 0; slot < directory.slots(); slot++) {
            byte[] other = new byte[Fingerprints.BYTES];
            System.arraycopy(directory.fingerprints(), slot * Fingerprints.BYTES, other, 0, Fingerprints.BYTES);
            other[0] ^= 1;
            index.insert(other, 0, ChunkId.of(container, slot));
        }
        index.cover(container, table);
        takeAway();
        write("again", contents.get("a"));
        HealReport report = heal();
        assertEquals(0, report.fromCopies(), report::toString);
        assertThrows(IOException.class, () -> read("a"));
    }

    @Test
    void aPackThatIsDeletedWhileItIsOpenIsSaved() throws IOException {
        read("a");
        Files.delete(pack);
        assertPackIsMissed(true);
        write("again", contents.get("a"));
        heal();
        assertPackIsMissed(false);
        assertWhole();
        reopen();
        assertWhole();
    }

    @Test
    void aWriterOfTheContentStartsAPass() throws Exception {
        takeAway();
        volume.maintenance().heal().setDelays(0, 0);
        write("again", contents.get("a"));
        long end = System.nanoTime() + 60_000_000_000L;
        while (volume.context().damaged().missingPacks() > 0 && System.nanoTime() < end) {
            Thread.sleep(20);
        }
        assertWhole();
    }
}
