package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.volume.care.DamageFound;
import org.opendedup.sar.volume.care.DamageReport;
import org.opendedup.sar.volume.care.NewDamageListener;
import org.opendedup.sar.volume.care.VolumeHeal;
import org.opendedup.sar.volume.care.VolumeScrub;
import org.opendedup.sar.volume.chunks.ChunkVolume;

/** Scrub and healing of a volume of chunks. */
@Timeout(300)
final class ChunkHealTest {
    /** Chunks of one container, 2 to 8 KB each. */
    private static final long CHUNKS = 120;

    @MemoryFolder
    private Path folder;

    @Test
    void aScrubVerifiesASoundVolumeAndComparesNoReferences() throws IOException {
        try (ChunkFolder chunks = new ChunkFolder(folder, null)) {
            chunks.put(0, CHUNKS);
            ScrubTotals totals = chunks.scrub();
            assertTrue(totals.isClean(), totals::toString);
            assertEquals(CHUNKS, totals.chunks());
            assertEquals(ScrubTotals.References.NONE, totals.references());
            assertTrue(totals.index().entries() + totals.index().chunks() > 0, totals::toString);
            chunks.assertWhole();
        }
    }

    @Test
    void whatAScrubFindsIsHealedFromTheSsd() throws IOException {
        try (ChunkFolder chunks = new ChunkFolder(folder.resolve("volume"), folder.resolve("ssd"))) {
            chunks.put(0, CHUNKS);
            // Those with two references have copies there, if they are not neighbours in a long run.
            for (long number = 0; number < CHUNKS; number++) {
                chunks.put(number * 7 % CHUNKS, number * 7 % CHUNKS + 1);
            }
            ChunkFolder.await(() -> chunks.locations.values().stream()
                    .allMatch(location -> chunks.volume.hot().contains(location)));
            chunks.damage();
            ScrubTotals found = chunks.scrub();
            assertTrue(found.damagedFrames() > 0, found::toString);
            long damaged = chunks.damagedChunks();
            assertTrue(damaged > 0);
            HealReport report = chunks.heal();
            assertEquals(damaged, report.healedChunks(), report::toString);
            assertTrue(report.fromSsd() > 0, report::toString);
            assertEquals(damaged, report.fromFrame() + report.fromSsd(), "some are whole in the damaged frame");
            chunks.assertWhole();
        }
    }

    @Test
    void damageWithoutAnotherCopyStaysAndIsListedAlsoAfterAMount() throws IOException {
        try (ChunkFolder chunks = new ChunkFolder(folder, null)) {
            chunks.put(0, CHUNKS);
            assertEquals(List.of(), chunks.volume.maintenance().damage().faults(), "control: it was sound");
            chunks.damage();
            List<DamageFound> told = new CopyOnWriteArrayList<>();
            chunks.volume.maintenance().damage().listen(new NewDamageListener() {
                @Override
                public void found(DamageFound damage) {
                    told.add(damage);
                }

                @Override
                public void gone() {}
            });
            assertFalse(chunks.scrub().isClean());
            int unreadable = chunks.unreadable();
            assertTrue(unreadable > 0);
            assertEquals(unreadable, chunks.damagedChunks());
            HealReport report = chunks.heal();
            assertTrue(report.unhealedChunks() > 0, report::toString);
            assertEquals(0, report.fromSsd() + report.fromCopies(), report::toString);
            assertEquals(unreadable, report.healedChunks() + report.unhealedChunks(), "others of the frame are whole");
            assertEquals(report.unhealedChunks(), chunks.damagedChunks());
            assertEquals(chunks.damagedChunks(), chunks.unreadable());
            ChunkFolder.await(() -> !told.isEmpty());
            assertTrue(told.get(0).container() > 0);
            chunks.reopen();
            List<DamageReport.Fault> faults =
                    chunks.volume.maintenance().damage().faults();
            assertEquals(1, faults.size(), faults::toString);
            assertEquals(told.get(0).container(), faults.get(0).container());
            chunks.claimUnreadable();
            assertEquals(0, chunks.damagedChunks(), "what no file refers to is no damage");
        }
    }

    @Test
    void contentThatIsWrittenAgainHealsItsOldPlaceByItself() throws IOException {
        try (ChunkFolder chunks = new ChunkFolder(folder, null)) {
            chunks.put(0, CHUNKS);
            chunks.damage();
            assertFalse(chunks.scrub().isClean());
            long damaged = chunks.damagedChunks();
            assertEquals(damaged, chunks.unreadable(), "control: nothing was written again");
            chunks.volume.maintenance().heal().setDelays(0, 50);
            chunks.put(0, CHUNKS);
            ChunkFolder.await(() -> chunks.damagedChunks() == 0);
            // The healing thread counts them a moment later.
            ChunkFolder.await(() -> chunks.volume.maintenance().heal().healedChunks() >= damaged);
            assertEquals(damaged, chunks.volume.maintenance().heal().healedChunks());
            chunks.assertWhole();
            // Both places count the references that they were told.
            for (long location : chunks.locations.values()) {
                assertTrue(chunks.volume.references(location) >= 1);
            }
        }
    }

    /** The put of a damaged chunk asks for a pass, and a pass ends before the index leads to the new copy. */
    @Test
    void aPassThatCameTooEarlyIsFollowedByAnother() throws Exception {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(1));
        byte[] chunk = ChunkTrial.chunk(1);
        byte[] fingerprint = ChunkTrial.fingerprint(chunk);
        try (ChunkVolume volume = trial.open()) {
            volume.put(fingerprint, chunk, chunk.length, 1, 1);
        }
        for (String pack : trial.data.list()) {
            byte[] bytes = trial.data.contents(pack);
            // In the chunk's frame, after the headers.
            int at = Math.min(bytes.length, PackFormat.FIRST_CONTAINER + 200);
            Arrays.fill(bytes, at, Math.min(bytes.length, at + 100), (byte) 7);
            trial.data.put(pack, bytes);
        }
        try (ChunkVolume volume = trial.open()) {
            VolumeHeal heal = volume.maintenance().heal();
            heal.setDelays(ChunkFolder.NEVER_MS, ChunkFolder.NEVER_MS);
            volume.maintenance().scrub().run((totals, rest, next) -> true);
            assertEquals(1, heal.unhealedChunks());
            HealReport[] early = new HealReport[1];
            trial.hooks.hook = call -> {
                if (call.what().equals("usableBytes") && early[0] == null) {
                    early[0] = HealReport.NONE;
                    early[0] = heal.run(soFar -> true);
                    heal.setDelays(0, ChunkFolder.NEVER_MS);
                }
                return call.proceed();
            };
            // A put asks for the free space only if it is not known from half a second before.
            Thread.sleep(600);
            volume.put(fingerprint, chunk, chunk.length, 1, 1);
            assertEquals(1, early[0].unhealedChunks(), early[0]::toString);
            ChunkFolder.await(() -> heal.unhealedChunks() == 0);
        }
    }

    @Test
    void aReadThatFindsDamageIsEnoughForAPass() throws IOException {
        try (ChunkFolder chunks = new ChunkFolder(folder, null)) {
            chunks.put(0, CHUNKS);
            chunks.damage();
            assertFalse(chunks.scrub().isClean());
            // Now what is damaged is stored a second time.
            chunks.put(0, CHUNKS);
            chunks.heal();
            chunks.assertWhole();
            chunks.volume.close();
            long first = ChunkId.container(chunks.locations.get(0L));
            for (PackedContainer container : chunks.containers()) {
                if (container.id() == first) {
                    container.flipBitInFrames();
                }
            }
            chunks.open();
            chunks.volume.maintenance().heal().setDelays(0, 50);
            assertEquals(0, chunks.damagedChunks(), "control: nobody has read it yet");
            assertEquals(0, chunks.unreadable(), "the second copy is read");
            ChunkFolder.await(() -> chunks.volume.maintenance().heal().healedChunks() > 0);
            ChunkFolder.await(() -> chunks.damagedChunks() == 0);
            chunks.assertWhole();
        }
    }

    @Test
    void aMissingPackIsMadeGoodByContentThatIsWrittenAgain() throws IOException {
        try (ChunkFolder chunks = new ChunkFolder(folder, null)) {
            chunks.put(0, CHUNKS);
            chunks.volume.close();
            for (Path pack : PackedContainer.packs(chunks.config.locations().data())) {
                Files.delete(pack);
            }
            chunks.open();
            assertFalse(chunks.scrub().isClean());
            assertEquals(CHUNKS, chunks.unreadable());
            assertTrue(
                    chunks.volume.maintenance().damage().faults().stream()
                            .anyMatch(fault -> fault.pack().endsWith(".pack")),
                    "the missing pack is named");
            chunks.put(0, CHUNKS);
            HealReport report = chunks.heal();
            assertEquals(CHUNKS, report.healedChunks(), report::toString);
            chunks.assertWhole();
        }
    }

    @Test
    void aScrubThatWasStoppedGoesOnWhereItWasAfterAMount() throws IOException {
        try (ChunkFolder chunks = new ChunkFolder(folder, null)) {
            for (int container = 0; container < 3; container++) {
                chunks.put(container * CHUNKS, (container + 1) * CHUNKS);
                chunks.reopen();
            }
            VolumeScrub scrub = chunks.volume.maintenance().scrub();
            assertThrows(
                    InterruptedIOException.class, () -> scrub.run((totals, rest, next) -> totals.containers() < 1));
            ScrubRecord stopped = scrub.current();
            assertNotNull(stopped);
            assertFalse(stopped.isComplete());
            chunks.reopen();
            ScrubRecord found = chunks.volume.maintenance().scrub().current();
            assertNotNull(found);
            assertEquals(stopped, found);
            assertNull(chunks.volume.maintenance().scrub().last(), "control: none is complete");
            long[] first = {-1};
            ScrubRecord complete = chunks.volume.maintenance().scrub().run((totals, rest, next) -> {
                first[0] = first[0] < 0 ? totals.containers() : first[0];
                return true;
            });
            assertTrue(first[0] >= 1, "it does not begin again");
            assertEquals(stopped.beganMs(), complete.beganMs());
            assertEquals(3, complete.totals().containers());
            assertTrue(complete.isComplete());
        }
    }
}
