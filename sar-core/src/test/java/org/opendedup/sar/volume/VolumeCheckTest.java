package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.PresentContainers;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.PackReader;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.care.VolumeCheck;

/** The check of a volume that is in use. */
class VolumeCheckTest extends OpenVolumeTrial {
    private static final int KIB = 1 << 10;

    private VolumeCheck check() {
        return volume.maintenance().check();
    }

    private List<Finding> findings() throws IOException {
        return check().run((step, done, of) -> {}).findings();
    }

    private Path checkFolder() {
        return config.locations().metadata().resolve("check");
    }

    @Test
    void aSoundVolumeHasNoFindingAndNothingIsLeft() throws IOException {
        byte[] whole = random(900 * KIB);
        GarbageTrial.store(volume, "whole", whole);
        GarbageTrial.store(volume, "again", whole);
        GarbageTrial.store(volume, "gone", random(300 * KIB));
        volume.unlink(Inode.ROOT, "gone".getBytes(UTF_8));
        assertEquals(List.of(), findings());
        reopen();
        assertEquals(List.of(), findings());
        assertFalse(Files.exists(checkFolder()));
    }

    @Test
    void whatACrashLeftIsRemovedAtTheMount() throws IOException {
        Files.createDirectories(checkFolder().resolve("scratch"));
        Files.write(checkFolder().resolve("scratch/references-0"), new byte[100]);
        reopen();
        assertFalse(Files.exists(checkFolder()));
    }

    @Test
    void aMissingPackGivesTheDamagedFilesAndTheRestIsFound() throws IOException {
        byte[] lost = random(200 * KIB);
        GarbageTrial.store(volume, "lost", lost);
        reopen();
        long pack = PackReader.packs(FileDirectory.open(config.locations().data()))[0];
        GarbageTrial.store(volume, "kept", random(200 * KIB));
        Files.delete(config.locations().data().resolve(PackFormat.fileName(pack)));
        List<Finding> findings = findings();
        assertEquals(1, findings.size(), findings::toString);
        assertEquals(Kind.MISSING_PACK, findings.get(0).kind());
        DamagedFile file = findings.get(0).files().get(0);
        assertEquals(List.of("/lost"), file.paths());
        assertEquals(List.of(new DamagedFile.Range(0, lost.length)), file.ranges());
    }

    /**
     * A rebuild of the table does not bring bytes back that were cut off: it would make the container a shorter one.
     */
    @Test
    void aPackThatIsCutShortIsOneFindingThatAsksForThePack() throws IOException {
        byte[] lost = random(200 * KIB);
        GarbageTrial.store(volume, "lost", lost);
        reopen();
        Path pack = config.locations()
                .data()
                .resolve(PackFormat.fileName(
                        PackReader.packs(FileDirectory.open(config.locations().data()))[0]));
        try (FileChannel channel = FileChannel.open(pack, StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() / 2);
        }
        List<Finding> findings = findings();
        assertEquals(1, findings.size(), findings::toString);
        Finding finding = findings.get(0);
        assertEquals(Kind.MISSING_PACK, finding.kind());
        assertTrue(finding.what().contains("has only " + Files.size(pack) + " bytes, it is cut short"), finding.what());
        assertTrue(finding.mend().contains("bring back " + pack), finding.mend());
        assertFalse(finding.mend().contains("--rebuild-containers"), finding.mend());
        assertEquals(
                List.of(new DamagedFile.Range(0, lost.length)),
                finding.files().get(0).ranges());
    }

    /** Files are written and removed after the cut, and the containers in it are sealed: none of that is a finding. */
    @Test
    void whatChangesAfterTheCutIsNoFinding() throws IOException {
        GarbageTrial.store(volume, "removed", random(500 * KIB));
        GarbageTrial.store(volume, "kept", random(500 * KIB));
        StoredVolume.Report report = check().run(
                        (step, done, of) -> {},
                        true,
                        volume.context().metadata().containers()::get,
                        () -> {
                            volume.unlink(Inode.ROOT, "removed".getBytes(UTF_8));
                            GarbageTrial.store(volume, "new", random(700 * KIB));
                            volume.context().containers().endAll();
                            volume.sync();
                        },
                        true);
        assertEquals(List.of(), report.findings());
    }

    /** Makes a container that a collection writes anew because it compresses harder, with all its chunks. */
    private void makeCompressible() throws IOException {
        GarbageTrial.store(volume, "text", GarbageTrial.text(random, 900 * KIB));
        reopen();
    }

    private List<Finding> findings(boolean pins, PresentContainers present, Closing.Step afterCut) throws IOException {
        return check().run((step, done, of) -> {}, pins, present, afterCut, true)
                .findings();
    }

    private PresentContainers now() {
        return volume.context().metadata().containers()::get;
    }

    private Map<Long, StoredContainer> places() throws IOException {
        Map<Long, StoredContainer> places = new HashMap<>();
        volume.context().metadata().containers().forEach(entry -> places.put(entry.container(), entry.stored()));
        return places;
    }

    @Test
    void aContainerThatWasWrittenAnewAfterTheCutIsNoFinding() throws IOException {
        makeCompressible();
        Map<Long, StoredContainer> before = places();
        assertEquals(List.of(), findings(false, now(), () -> GarbageTrial.collect(volume, 9)));
        assertNotEquals(before, places());
    }

    /** The control: if nobody says that the container lies elsewhere now, it is missing. */
    @Test
    void aContainerThatWasWrittenAnewUnseenIsAFalseFinding() throws IOException {
        makeCompressible();
        Map<Long, StoredContainer> before = places();
        assertNotEquals(List.of(), findings(false, before::get, () -> GarbageTrial.collect(volume, 9)));
    }

    /** Makes containers whose damaged chunks can be healed from other containers. */
    private void makeHealable() throws IOException {
        byte[] bytes = random(900 * KIB);
        GarbageTrial.store(volume, "damaged", bytes);
        volume.close();
        for (PackedContainer container : PackedContainer.in(config.locations().data())) {
            ByteBuffer all = ByteBuffer.wrap(container.read()).order(ByteOrder.LITTLE_ENDIAN);
            int list = all.getInt(32 + 28);
            int stored = all.getInt(32 + 36);
            container.overwrite(32 + 48 + list, new byte[stored]);
        }
        volume = Volume.open(config);
        volume.maintenance().scrub().run((totals, rest, next) -> true);
        assertTrue(volume.maintenance().heal().unhealedChunks() > 0);
        GarbageTrial.store(volume, "again", bytes);
    }

    private void healDirectly() throws IOException {
        volume.maintenance().heal().run(soFar -> true);
        assertEquals(0, volume.maintenance().heal().unhealedChunks());
    }

    /** With the pin, a heal waits for the end of the check; without it, the check sees the next generation. */
    @Test
    @Timeout(120)
    void aContainerThatIsHealedAfterTheCutIsNoFinding() throws IOException {
        makeHealable();
        Map<Long, StoredContainer> before = places();
        assertEquals(List.of(), findings(false, now(), this::heal));
        Map<Long, StoredContainer> after = places();
        assertTrue(before.keySet().stream()
                .anyMatch(container -> !before.get(container).equals(after.get(container))));
        assertEquals(List.of(), findings());
    }

    @Test
    @Timeout(120)
    void checksBesideAHealFindOnlyWhatIsNotHealedYet() throws Exception {
        makeHealable();
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Thread[] healing = new Thread[1];
        List<Finding> found = new ArrayList<>(findings(true, now(), () -> {
            healing[0] = new Thread(() -> {
                try {
                    healDirectly();
                } catch (IOException | RuntimeException | AssertionError e) {
                    failure.set(e);
                }
            });
            healing[0].start();
        }));
        for (int i = 0; i < 3; i++) {
            found.addAll(findings());
        }
        found.removeIf(finding -> finding.kind() == Finding.Kind.DAMAGED_CHUNKS);
        assertEquals(List.of(), found);
        healing[0].join();
        assertNull(failure.get());
        assertEquals(List.of(), findings());
    }

    /** The control: if nobody says that the container lies elsewhere now, it is missing. */
    @Test
    @Timeout(120)
    void aContainerThatIsHealedUnseenIsAFalseFinding() throws IOException {
        makeHealable();
        Map<Long, StoredContainer> before = places();
        assertNotEquals(List.of(), findings(false, before::get, this::heal));
    }

    /** A pack that was made after the cut, and is removed when its turn comes. */
    @Test
    void aPackThatIsRemovedWhileTheCheckLooksAtPacksIsNoFinding() throws IOException {
        GarbageTrial.store(volume, "file", random(200 * KIB));
        Path extra = config.locations().data().resolve(PackFormat.fileName(1_000));
        Files.write(extra, new byte[0]);
        List<Finding> found = check().run((step, done, of) -> {
                    if (step.equals("packs")) {
                        remove(extra);
                    }
                })
                .findings();
        assertEquals(List.of(), found);
    }

    private static void remove(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The control of the pin: a collection removes chunks that files of the cut refer to. */
    @Test
    void chunksThatAreCollectedAfterTheCutAreFalseFindings() throws IOException {
        GarbageTrial.store(volume, "removed", random(500 * KIB));
        GarbageTrial.store(volume, "kept", random(500 * KIB));
        reopen();
        Closing.Step collection = () -> {
            volume.unlink(Inode.ROOT, "removed".getBytes(UTF_8));
            volume.sync();
            GarbageTrial.collect(volume, 0);
        };
        assertNotEquals(List.of(), findings(false, now(), collection));
        assertEquals(List.of(), findings());
    }

    @Test
    @Timeout(300)
    void aVolumeUnderLoadHasNoFinding() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        long seed = random.nextLong();
        Thread load = new Thread(() -> {
            try {
                load(new SplittableRandom(seed), ended);
            } catch (IOException | RuntimeException | AssertionError e) {
                failure.set(e);
            }
        });
        Thread collections = new Thread(() -> {
            try {
                while (!ended.get()) {
                    volume.maintenance()
                            .arrange(
                                    new ArrangementLimits(1, 1),
                                    DiskModel.configured(1, 100_000_000),
                                    (stage, done, of) -> {
                                        if (ended.get()) {
                                            throw new InterruptedIOException("stopped");
                                        }
                                    });
                    GarbageTrial.collect(volume, 0);
                }
            } catch (InterruptedIOException e) {
                assertTrue(ended.get());
            } catch (IOException | RuntimeException e) {
                failure.set(e);
            }
        });
        load.start();
        collections.start();
        try {
            for (int i = 0; i < 12; i++) {
                assertEquals(List.of(), findings());
            }
        } finally {
            ended.set(true);
            load.join();
            collections.join();
        }
        assertNull(failure.get());
    }

    private void load(SplittableRandom own, AtomicBoolean ended) throws IOException {
        byte[] common = new byte[600 * KIB];
        own.nextBytes(common);
        for (int step = 0; !ended.get(); step++) {
            byte[] data = java.util.Arrays.copyOfRange(common, own.nextInt(100) * KIB, (300 + own.nextInt(300)) * KIB);
            data[own.nextInt(data.length)]++;
            GarbageTrial.store(volume, "file" + step, data);
            if (step >= 5) {
                volume.unlink(Inode.ROOT, ("file" + (step - 5)).getBytes(UTF_8));
            }
            if (own.nextInt(4) == 0) {
                volume.context().containers().endAll();
            }
        }
    }

    @Test
    void aSecondCheckSaysThatItWaitsAndCanBeStoppedMeanwhile() throws IOException {
        GarbageTrial.store(volume, "file", random(500 * KIB));
        var waited = new AtomicReference<@Nullable String>();
        check().run((step, done, of) -> {
            if (waited.get() == null) {
                CompletableFuture.runAsync(() -> waited.set(stepOfStoppedCheck()))
                        .join();
            }
        });
        assertEquals("waiting for a scrub, which compares references", waited.get());
        assertTrue(findings().isEmpty(), "the stopped check holds nothing");
    }

    /** Runs a check that is stopped at its first step; returns the step. */
    private String stepOfStoppedCheck() {
        var first = new AtomicReference<>("");
        assertThrows(
                InterruptedIOException.class,
                () -> check().run((step, done, of) -> {
                    first.set(step);
                    throw new InterruptedIOException("stopped");
                }));
        return first.get();
    }

    @Test
    void aCheckIsStoppedAndLeavesNothing() throws IOException {
        GarbageTrial.store(volume, "file", random(500 * KIB));
        assertThrows(
                InterruptedIOException.class,
                () -> check().run((step, done, of) -> {
                    if (step.startsWith("references")) {
                        throw new InterruptedIOException("stopped");
                    }
                }));
        assertFalse(Files.exists(checkFolder()));
        assertTrue(findings().isEmpty());
        // The pin is gone: collections run.
        volume.unlink(Inode.ROOT, "file".getBytes(UTF_8));
        GarbageTrial.collect(volume, 0);
    }
}
