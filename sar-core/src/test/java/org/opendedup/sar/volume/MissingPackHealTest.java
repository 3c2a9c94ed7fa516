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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.index.ChunkIndex;

/** Containers whose pack is missing, or ends before they do, are healed with what is found of their content. */
@Timeout(120)
class MissingPackHealTest {
    private static final int PART = 300 << 10;

    @TempDir
    Path folder;

    private HealVolume volume;
    private Path pack;

    @BeforeEach
    void make() throws IOException {
        volume = new HealVolume(folder.resolve("volume"), TestSeed.next());
        volume.store("a", 3 * HealVolume.MIB);
        volume.close();
        pack = volume.packs().get(0);
        volume.open();
        volume.store("other", HealVolume.MIB);
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    private Path takeAway() throws IOException {
        volume.close();
        Path aside = Files.move(pack, folder.resolve("aside"));
        volume.open();
        assertThrows(IOException.class, () -> volume.read("a"), "control: it is missing");
        return aside;
    }

    private void assertPackIsMissed(boolean isMissed) throws IOException {
        volume.volume.context().damaged().noteMissingPacks();
        assertEquals(isMissed ? 1 : 0, volume.volume.context().damaged().missingPacks());
        assertEquals(
                isMissed ? 1 : 0,
                volume.volume.context().metadata().damage().missingPacks().size());
    }

    @Test
    void contentThatIsWrittenAgainHealsAll() throws IOException {
        takeAway();
        assertPackIsMissed(true);
        HealReport none = volume.heal();
        assertEquals(0, none.healedChunks(), none::toString);
        assertTrue(none.unhealedChunks() > 0, none::toString);
        assertPackIsMissed(true);
        assertEquals(0, volume.damagedChunks(), "a missing pack marks nothing: it may come back");
        volume.write("again", volume.contents.get("a"));
        HealReport healed = volume.heal();
        assertEquals(List.of(), healed.unhealed());
        assertTrue(healed.fromCopies() > 0, healed::toString);
        assertPackIsMissed(false);
        volume.assertWhole();
        volume.reopen();
        assertPackIsMissed(false);
        volume.assertWhole();
    }

    @Test
    void theListsOfTheIndexLastUntilALaterMount() throws IOException {
        takeAway();
        volume.write("again", volume.contents.get("a"));
        volume.reopen();
        volume.reopen();
        assertEquals(List.of(), volume.heal().unhealed());
        volume.assertWhole();
    }

    @Test
    void whatIsNotFoundIsLostAndComesBackWithThePack() throws IOException {
        Path aside = takeAway();
        volume.writeBegin("a", PART, "part");
        HealReport report = volume.heal();
        assertTrue(report.fromCopies() > 0, report::toString);
        assertTrue(report.unhealedChunks() > 0, report::toString);
        assertTrue(volume.canRead("a", 0, 100 << 10));
        assertThrows(IOException.class, () -> volume.read("a"));
        assertPackIsMissed(true);
        assertEquals(List.of(), VolumeChecker.check(volume.volume));
        GarbageTrial.collect(volume.volume, 0);
        volume.reopen();
        assertPackIsMissed(true);
        assertTrue(volume.canRead("a", 0, 100 << 10));
        volume.close();

        Files.createDirectories(pack.getParent());
        Files.move(aside, pack);
        volume.open();
        assertThrows(IOException.class, () -> volume.read("a"), "the old writing is not taken for the new one");
        GarbageTrial.collect(volume.volume, 0);
        assertTrue(Files.exists(pack), "a collection leaves what may be needed");
        assertEquals(List.of(), volume.heal().unhealed());
        volume.assertWhole();
        assertPackIsMissed(false);
        GarbageTrial.collect(volume.volume, 0);
        assertFalse(Files.exists(pack), "nothing needs it any more");
        volume.reopen();
        volume.assertWhole();
    }

    @Test
    void aPackThatIsBackBeforeAPassNeedsNone() throws IOException {
        Path aside = takeAway();
        volume.write("again", volume.contents.get("a"));
        volume.close();
        Files.createDirectories(pack.getParent());
        Files.move(aside, pack);
        volume.open();
        assertEquals(0, volume.heal().containers());
        volume.assertWhole();
    }

    @Test
    void aPackThatIsPutBackIsNotMissedAnyMore() throws IOException {
        Path aside = takeAway();
        volume.write("again", volume.contents.get("a"));
        assertTrue(volume.volume.context().damaged().missing() > 0, "control: it is missed");
        Files.createDirectories(pack.getParent());
        Files.move(aside, pack);
        assertTrue(volume.scrub().isClean());
        assertEquals(0, volume.volume.context().damaged().missing());
        volume.assertWhole();
    }

    @Test
    void aPackThatEndsInTheMiddleOfAContainerIsHealed() throws IOException {
        volume.close();
        try (RandomAccessFile file = new RandomAccessFile(pack.toFile(), "rw")) {
            file.setLength(file.length() / 2);
        }
        volume.open();
        assertThrows(IOException.class, () -> volume.read("a"));
        volume.writeBegin("a", PART, "part");
        HealReport partly = volume.heal();
        assertTrue(partly.unhealedChunks() > 0, partly::toString);
        assertTrue(volume.canRead("a", 0, 100 << 10));
        volume.write("again", volume.contents.get("a"));
        assertEquals(List.of(), volume.heal().unhealed());
        volume.assertWhole();
        volume.reopen();
        volume.assertWhole();
    }

    /** All frames are there, and only the directory behind them is not. */
    @Test
    void aPackThatEndsInADirectoryIsHealed() throws IOException {
        volume.close();
        PackedContainer last =
                PackedContainer.of(pack).get(PackedContainer.of(pack).size() - 1);
        try (RandomAccessFile file = new RandomAccessFile(pack.toFile(), "rw")) {
            file.setLength(last.offset() + last.bytes() - 10);
        }
        volume.open();
        assertFalse(volume.scrub().isClean(), "control: the scrub finds it");
        assertEquals(List.of(), volume.heal().unhealed());
        volume.assertWhole();
        volume.reopen();
        volume.assertWhole();
    }

    @Test
    void withoutTheIndexTheFingerprintsAreUnknownAndAPassSaysSo() throws IOException {
        volume.close();
        Files.delete(pack);
        try (Stream<Path> files = Files.walk(volume.config.locations().hashDb())) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.delete(file);
            }
        }
        volume.open();
        volume.write("again", volume.contents.get("a"));
        HealReport report = volume.heal();
        assertEquals(0, report.healedChunks(), report::toString);
        assertTrue(report.unhealed().get(0).reason().contains("the index does not have"), report::toString);
        assertThrows(IOException.class, () -> volume.read("a"));
        assertPackIsMissed(true);
    }

    @Test
    void fingerprintsThatRecipesContradictAreNotUsed() throws IOException {
        long container = volume.containers().get(0).id();
        SealedContainer directory = volume.volume.context().containers().directory(container);
        ChunkIndex index = volume.volume.context().collector().index();
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
        volume.write("again", volume.contents.get("a"));
        HealReport report = volume.heal();
        assertEquals(0, report.fromCopies(), report::toString);
        assertThrows(IOException.class, () -> volume.read("a"));
    }

    @Test
    void aPackThatIsDeletedWhileItIsOpenIsSaved() throws IOException {
        volume.read("a");
        Files.delete(pack);
        assertPackIsMissed(true);
        volume.write("again", volume.contents.get("a"));
        volume.heal();
        assertPackIsMissed(false);
        volume.assertWhole();
        volume.reopen();
        volume.assertWhole();
    }

    @Test
    void aWriterOfTheContentStartsAPass() throws Exception {
        takeAway();
        volume.volume.maintenance().heal().setDelays(0, 0);
        volume.write("again", volume.contents.get("a"));
        long end = System.nanoTime() + 60_000_000_000L;
        while (volume.volume.context().damaged().missingPacks() > 0 && System.nanoTime() < end) {
            Thread.sleep(20);
        }
        volume.assertWhole();
    }
}
