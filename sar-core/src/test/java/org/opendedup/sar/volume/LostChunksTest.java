package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.DamageNote.How;
import org.opendedup.sar.metadata.record.DamagedPlace;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.backup.MetadataRestore;
import org.opendedup.sar.volume.care.DamageFound;
import org.opendedup.sar.volume.care.NewDamageListener;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.config.OtherHistory;

/** Frames of which some chunks exist nowhere else: the others are healed, and these stay listed without their bytes. */
@Timeout(120)
class LostChunksTest extends OpenVolumeTrial {
    private static final int CONTAINER_HEADER_BYTES = 32;
    private static final int FRAME_HEADER_BYTES = 48;
    /** Less than the first frame has, and more than its first chunk. */
    private static final int PART = 40 << 10;

    /** Overwrites the payload of the first frame of the first container, and returns what was there. */
    private byte[] damage() throws IOException {
        return damage(1);
    }

    /** Overwrites the payloads of the first frames of the first container, and returns what was there. */
    private byte[] damage(int frames) throws IOException {
        PackedContainer container = containers().get(0);
        byte[] all = container.read();
        ByteBuffer numbers = ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN);
        int at = CONTAINER_HEADER_BYTES;
        for (int frame = 0; frame < frames; frame++) {
            int list = numbers.getInt(at + 28);
            int stored = numbers.getInt(at + 36);
            container.overwrite(at + FRAME_HEADER_BYTES + list, new byte[stored]);
            at += FRAME_HEADER_BYTES + list + stored + numbers.getShort(at + 6) + Integer.BYTES;
        }
        return all;
    }

    /** Damages the first frame, stores a part of it again, and heals that. */
    private HealReport loseAPart() throws IOException {
        if (!contents.containsKey("a")) {
            store("a", MIB);
        }
        volume.close();
        damage();
        open();
        assertTrue(scrub().damagedFrames() > 0);
        assertFalse(canRead("a", 0, 1000), "control: the whole frame cannot be read");
        writeBegin("a", PART, "part");
        HealReport report = heal();
        assertTrue(report.fromCopies() > 0, report::toString);
        assertTrue(report.unhealedChunks() > 0, report::toString);
        assertEquals(report.unhealedChunks(), unhealedChunks());
        return report;
    }

    /** Stores a file whose container has chunks that only another file refers to, "whole". */
    private void storeBesideGarbage() throws IOException {
        store("whole", MIB * 5 / 4);
        writeBegin("whole", MIB, "a");
    }

    private void assertPartIsReadAndTheRestIsNot() throws IOException {
        assertTrue(canRead("a", 0, 1000));
        IOException lost = assertThrows(IOException.class, () -> read("a"));
        assertTrue(lost.getMessage().contains("lost: no copy was found"), lost::getMessage);
    }

    @Test
    void theChunksThatAreFoundAreReadAndTheOthersStayKnown() throws IOException {
        loseAPart();
        assertPartIsReadAndTheRestIsNot();
        long lost = unhealedChunks();
        List<DamagedPlace> places = places();
        assertEquals(
                1,
                volume.maintenance()
                        .damage()
                        .list((step, done, of) -> {})
                        .files()
                        .size());
        assertTrue(scrub().isClean(), "known damage is not new damage");
        assertEquals(lost, unhealedChunks(), "a scrub does not take the lost ones for sound");
        assertEquals(places, places());
        assertEquals(List.of(), VolumeChecker.check(volume));
        HealReport again = heal();
        assertEquals(0, again.healedChunks(), again::toString);
        reopen();
        assertPartIsReadAndTheRestIsNot();
        assertEquals(lost, unhealedChunks());
        assertEquals(
                1,
                volume.maintenance()
                        .damage()
                        .list((step, done, of) -> {})
                        .files()
                        .size());

        long unique = volume.statistics().uniqueBytes();
        write("b", contents.get("a"));
        assertTrue(volume.statistics().uniqueBytes() > unique, "a lost chunk is no duplicate");
        HealReport whole = heal();
        assertEquals(List.of(), whole.unhealed());
        assertWhole();
        reopen();
        assertWhole();
    }

    private List<DamagedPlace> places() throws IOException {
        return volume.context().metadata().damage().places();
    }

    /** What is written again piece by piece is healed piece by piece, and takes no more space for each. */
    @Test
    void manyPassesOverAContainerLeaveOneFormerPlace() throws IOException {
        store("a", MIB);
        volume.close();
        damage(2);
        open();
        assertEquals(2, scrub().damagedFrames());
        int passes = 0;
        for (int bytes = 16 << 10; bytes < 60 << 10; bytes += 8 << 10) {
            writeBegin("a", bytes, "part " + bytes);
            passes += heal().healedContainers() > 0 ? 1 : 0;
        }
        assertTrue(passes > 1, "control: " + passes + " passes healed something");
        assertEquals(1, formerContainers().size());
        write("again", contents.get("a"));
        assertEquals(List.of(), heal().unhealed());
        assertEquals(List.of(), formerContainers());
        assertWhole();
    }

    @Test
    void aCollectionKeepsThemListedAndForgetsThoseWithoutFiles() throws IOException {
        storeBesideGarbage();
        loseAPart();
        remove("part");
        remove("whole");
        CollectionReport report = GarbageTrial.collect(volume, 0);
        assertTrue(report.rewritten() > 0, report::toString);
        assertPartIsReadAndTheRestIsNot();
        assertTrue(unhealedChunks() > 0);
        assertEquals(List.of(), VolumeChecker.check(volume));
        assertTrue(scrub().isClean());
        write("b", contents.get("a"));
        heal();
        assertWhole();
    }

    @Test
    void aFormerPlaceThatIsOfUseIsNoStray() throws IOException {
        loseAPart();
        volume.close();
        OfflineCheck check = new OfflineCheck(config, (step, done, of) -> {}, InstantSource.system());
        List<Finding> strays = check.check().findings().stream()
                .filter(finding -> finding.kind() == Finding.Kind.STRAYS)
                .toList();
        open();
        assertEquals(1, formerContainers().size(), "control: there is one");
        assertEquals(List.of(), strays);
    }

    /** The place in the backup is still there, with its damage; what was healed since has no other copy. */
    @Test
    void metadataFromABackupFindWhatWasHealedSince() throws IOException {
        store("a", MIB);
        volume.close();
        damage();
        open();
        scrub();
        volume.maintenance().backups().backUp(1);
        writeBegin("a", PART, "part");
        heal();
        remove("part");
        GarbageTrial.collect(volume, 0);
        assertPartIsReadAndTheRestIsNot();
        volume.close();
        Path data = config.locations().data();
        Path backups = MetadataBackups.folderIn(data);
        MetadataRestore.restore(
                config.locations(),
                config.keys(),
                backups,
                MetadataBackups.automatic(data).backups().get(0));
        OtherHistory.giveUp(FileDirectory.open(data));
        open();
        assertTrue(canRead("a", 0, 1000), "the place that lacks less is taken");
        GarbageTrial.collect(volume, 0);
        heal();
        assertPartIsReadAndTheRestIsNot();
        GarbageTrial.collect(volume, 0);
        write("again", contents.get("a"));
        heal();
        assertWhole();
        assertEquals(List.of(), formerContainers());
    }

    /** Metadata that were put together of older ones may name places that are given back. */
    @Test
    void aFormerPlaceWithoutMarksIsForgotten() throws IOException {
        store("a", MIB);
        reopen();
        MetadataStore metadata = volume.context().metadata();
        metadata.containers().forEach(entry -> metadata.damage().former().add(entry.container(), entry.stored()));
        reopen();
        assertEquals(1, formerContainers().size(), "control: it is known");
        heal();
        assertEquals(List.of(), formerContainers());
        assertWhole();
    }

    @Test
    void marksThatAreGoneAreMadeAnewWhileThereIsAFormerPlace() throws IOException {
        loseAPart();
        MetadataStore metadata = volume.context().metadata();
        long container = formerContainers().get(0);
        StoredContainer place = metadata.damage().former().of(container).get(0);
        metadata.counts().markSound(container, metadata.counts().damaged(container));
        metadata.damage().former().add(container, place);
        reopen();
        assertEquals(0, unhealedChunks(), "control: no mark is left");
        heal();
        assertTrue(unhealedChunks() > 0);
        assertEquals(1, formerContainers().size());
        write("again", contents.get("a"));
        heal();
        assertWhole();
        assertEquals(List.of(), formerContainers());
    }

    @Test
    void withTheirFilesTheyGo() throws IOException {
        loseAPart();
        remove("a");
        GarbageTrial.collect(volume, 0);
        assertEquals(0, unhealedChunks());
        assertWhole();
        assertEquals(List.of(), formerContainers(), "nothing keeps the old place");
    }

    private List<Long> formerContainers() throws IOException {
        List<Long> found = new ArrayList<>();
        volume.context().metadata().damage().former().forEach((container, place) -> found.add(container));
        return found;
    }

    /** A cable that was bad gave wrong bytes, and all are there again afterwards. */
    @Test
    void bytesThatAreRightLaterInTheOldPlaceHealThem() throws IOException {
        store("a", MIB);
        volume.close();
        Path pack = packs().get(0);
        byte[] right = Files.readAllBytes(pack);
        damage();
        open();
        scrub();
        writeBegin("a", PART, "part");
        heal();
        assertPartIsReadAndTheRestIsNot();
        GarbageTrial.collect(volume, 0);
        assertTrue(Files.exists(pack), "a collection leaves the old place");
        volume.close();
        Files.write(pack, right);
        open();
        HealReport report = heal();
        assertTrue(report.fromFrame() > 0, report::toString);
        assertWhole();
        assertEquals(List.of(), formerContainers());
        GarbageTrial.collect(volume, 0);
        assertFalse(Files.exists(pack), "nothing needs the old place any more");
        assertWhole();
    }

    @Test
    void damageThatACollectionFindsIsToldAndHealed() throws Exception {
        storeBesideGarbage();
        volume.close();
        damage();
        open();
        var told = new LinkedBlockingQueue<DamageFound>();
        volume.maintenance().damage().listen(new NewDamageListener() {
            @Override
            public void found(DamageFound damage) {
                told.add(damage);
            }

            @Override
            public void gone() {}
        });
        volume.maintenance().heal().setDelays(0, 0);
        remove("whole");
        CollectionReport report = GarbageTrial.collect(volume, 0);
        assertEquals(1, report.keptContainers(), report::toString);
        DamageFound found = told.poll(60, TimeUnit.SECONDS);
        assertEquals(How.COLLECTION, found.note().how(), found::toString);
        assertTrue(found.place().matches("frame \\d+ of container 1"), found::place);
        assertTrue(found.paths().contains("/a"), found::toString);
        write("c", contents.get("a"));
        while (unhealedChunks() > 0) {
            Thread.sleep(10);
        }
        assertWhole();
    }
}
