package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.heal.HealMarks;
import org.opendedup.sar.heal.HealParts;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.heal.Healer;
import org.opendedup.sar.heal.SsdCopies;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.metadata.record.DamageNote.How;
import org.opendedup.sar.restore.frame.StopCheck;
import org.opendedup.sar.volume.care.VolumeHeal;
import org.opendedup.sar.volume.engine.DamagedFrames;
import org.opendedup.sar.volume.parts.VolumeContext;

/** Damaged chunks become whole again under their ids, from each source; wrong bytes never replace them. */
final class HealTest extends OpenVolumeTrial {
    private static final int CONTAINER_HEADER_BYTES = 32;
    private static final int FRAME_HEADER_BYTES = 48;

    /** Damages the first frame of each container, in its payload: no chunk of the byte is what was written. */
    private void damageFrames() throws IOException {
        for (PackedContainer container : containers()) {
            ByteBuffer all = ByteBuffer.wrap(container.read()).order(ByteOrder.LITTLE_ENDIAN);
            int frame = CONTAINER_HEADER_BYTES;
            int list = all.getInt(frame + 28);
            int stored = all.getInt(frame + 36);
            byte[] zeros = new byte[stored];
            container.overwrite(frame + FRAME_HEADER_BYTES + list, zeros);
        }
    }

    private void storeAndDamage() throws IOException {
        store("a", 3 * MIB);
        volume.close();
        damageFrames();
        volume = Volume.open(config);
        assertTrue(volume.maintenance()
                        .scrub()
                        .run((totals, rest, next) -> true)
                        .totals()
                        .damagedFrames()
                > 0);
        assertTrue(unhealedChunks() > 0);
        assertThrows(IOException.class, () -> read("a"));
    }

    @Test
    void whatIsWrittenAgainHealsEveryFileAtOnceAndAfterARemount() throws IOException {
        storeAndDamage();
        write("b", contents.get("a"));
        assertThrows(IOException.class, () -> read("a"), "control: the new copy alone heals nothing");
        long damaged = unhealedChunks();
        HealReport report = heal();
        assertEquals(damaged, report.fromCopies(), report::toString);
        assertEquals(List.of(), report.unhealed());
        assertWhole();
        reopen();
        assertWhole();
        long unique = volume.statistics().uniqueBytes();
        write("c", contents.get("a"));
        assertEquals(unique, volume.statistics().uniqueBytes(), "the content is referred to again");
    }

    @Test
    void withoutASourceNothingChangesAndThePassSaysWhatIsMissing() throws IOException {
        storeAndDamage();
        long damaged = unhealedChunks();
        HealReport report = heal();
        assertEquals(0, report.healedChunks(), report::toString);
        assertEquals(damaged, report.unhealedChunks(), report::toString);
        assertTrue(report.unhealed().get(0).reason().contains("no copy of these chunks"), report::toString);
        assertEquals(damaged, unhealedChunks());
        reopen();
        write("b", contents.get("a"));
        reopen();
        assertEquals(damaged, heal().fromCopies(), "a later mount finds the copies by the index");
        assertWhole();
    }

    @Test
    void aFrameOfWhichOnlyTheChecksumIsDamagedIsHealedFromItself() throws IOException {
        store("a", 3 * MIB);
        volume.close();
        for (PackedContainer container : containers()) {
            // A byte of the header that only the checksum covers.
            container.flipBit(CONTAINER_HEADER_BYTES + 6);
        }
        volume = Volume.open(config);
        assertThrows(IOException.class, () -> read("a"));
        volume.maintenance().scrub().run((totals, rest, next) -> true);
        long damaged = unhealedChunks();
        assertEquals(damaged, heal().fromFrame());
        assertWhole();
        reopen();
        assertWhole();
    }

    @Test
    void chunksThatAreSoundAreOnlyTakenBack() throws IOException {
        store("a", MIB);
        reopen();
        long container = firstContainer();
        volume.context().damaged().found(container, -1, 0, 2, new IOException("a test says so"));
        HealReport report = heal();
        assertEquals(2, report.sound(), report::toString);
        assertWhole();
    }

    private long firstContainer() throws IOException {
        List<Long> found = new ArrayList<>();
        volume.context().containers().forEachContainer(found::add);
        return found.get(0);
    }

    /** A pass with another SSD, or another index. */
    private HealReport healWith(SsdCopies ssd, ChunkIndex index) throws IOException {
        VolumeContext context = volume.context();
        context.damaged().recordAll();
        HealParts parts = new HealParts(
                context.metadata(),
                context.containers(),
                index,
                context.committer(),
                context.collector().uses(),
                context.collector().pins(),
                context.disk(),
                ssd);
        return new Healer(parts, new PlainMarks(context.damaged()), soFar -> true)
                .run(
                        Set.of(),
                        true,
                        (goesOn, part) -> context.collector().withoutCollections(StopCheck.NEVER, isWanted -> {
                            part.run(isWanted);
                            return part;
                        }));
    }

    /** Marks without the log of a volume. */
    private record PlainMarks(DamagedFrames damaged) implements HealMarks {
        @Override
        public void sound(long container, BitSet slots, boolean written) throws IOException {
            damaged.healed(container, slots);
        }

        @Override
        public void found(long container, int firstSlot, int endSlot, How how, IOException why) throws IOException {
            damaged.found(container, firstSlot, endSlot, how, why);
        }

        @Override
        public void suspected(long container) {
            damaged.suspected(container);
        }
    }

    /** Remembers all chunks, as an SSD with copies of them would. */
    private Map<Long, byte[]> allChunks() throws IOException {
        Map<Long, byte[]> chunks = new HashMap<>();
        var store = volume.context().containers();
        store.forEachContainer(container -> {
            try {
                SealedContainer directory = store.directory(container);
                for (int slot = 0; slot < directory.slots(); slot++) {
                    long chunk = ChunkId.of(container, slot);
                    var frame = store.frame(container, store.frameOf(chunk), true);
                    byte[] bytes = new byte[frame.length(slot)];
                    System.arraycopy(frame.data(), frame.offset(slot), bytes, 0, bytes.length);
                    chunks.put(chunk, bytes);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            return true;
        });
        return chunks;
    }

    @Test
    void copiesOnTheSsdHeal() throws IOException {
        store("a", 3 * MIB);
        reopen();
        Map<Long, byte[]> onSsd = allChunks();
        volume.close();
        damageFrames();
        volume = Volume.open(config);
        volume.maintenance().scrub().run((totals, rest, next) -> true);
        long damaged = unhealedChunks();
        HealReport report = healWith(
                (chunk, length, prefix) -> onSsd.get(chunk),
                volume.context().collector().index());
        assertEquals(damaged, report.fromSsd(), report::toString);
        assertWhole();
        reopen();
        assertWhole();
    }

    @Test
    void wrongBytesAreRefused() throws IOException {
        storeAndDamage();
        long damaged = unhealedChunks();
        HealReport report = healWith(
                (chunk, length, prefix) -> new byte[length],
                volume.context().collector().index());
        assertEquals(0, report.healedChunks(), report::toString);
        assertEquals(damaged, unhealedChunks());
        assertThrows(IOException.class, () -> read("a"));
    }

    @Test
    void aCopyToWhichTheIndexDoesNotLeadIsFoundInTheDirectories() throws IOException {
        storeAndDamage();
        write("b", contents.get("a"));
        reopen();
        long damaged = unhealedChunks();
        ChunkIndex index = volume.context().collector().index();
        // The index leads to the damaged copies themselves, as if it had been rebuilt in another order.
        volume.context().metadata().containers().forEach(entry -> {
            if (entry.damagedSlots() > 0) {
                SealedContainer directory = volume.context().containers().directory(entry.container());
                for (int slot = 0; slot < directory.slots(); slot++) {
                    index.insert(
                            directory.fingerprints(), slot * Fingerprints.BYTES, ChunkId.of(entry.container(), slot));
                }
            }
        });
        HealReport report = heal();
        assertEquals(damaged, report.fromCopies(), report::toString);
        assertWhole();
    }

    @Test
    void aPassCanBeStopped() throws IOException {
        storeAndDamage();
        assertThrows(
                InterruptedIOException.class, () -> volume.maintenance().heal().run(soFar -> false));
        BitSet damaged = volume.context().metadata().counts().damaged(firstContainer());
        assertTrue(damaged.cardinality() > 0, "it stays as it was");
    }

    @Test
    void contentThatIsWrittenAgainStartsAPass() throws Exception {
        storeAndDamage();
        reopen();
        // The pass begins when the content is stored.
        volume.maintenance().heal().setDelays(2000, 2000);
        write("b", contents.get("a"));
        TestWait.until(() -> unhealedChunks() == 0);
        assertWhole();
    }

    @Test
    void aScrubThatFindsDamageStartsAPass() throws Exception {
        store("a", 3 * MIB);
        volume.close();
        for (PackedContainer container : containers()) {
            container.flipBit(CONTAINER_HEADER_BYTES + 6);
        }
        volume = Volume.open(config);
        volume.maintenance().heal().setDelays(0, 0);
        volume.maintenance().scrub().run((totals, rest, next) -> true);
        TestWait.until(() -> unhealedChunks() == 0);
        assertWhole();
    }

    @Test
    void aReadThatFindsDamageStartsAPass() throws Exception {
        store("a", 3 * MIB);
        volume.close();
        for (PackedContainer container : containers()) {
            container.flipBit(CONTAINER_HEADER_BYTES + 6);
        }
        volume = Volume.open(config);
        volume.maintenance().heal().setDelays(0, 0);
        assertThrows(IOException.class, () -> read("a"));
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (volume.maintenance().heal().healedChunks() == 0) {
            assertTrue(System.nanoTime() < deadline, "not within a minute");
            Thread.sleep(20);
        }
        heal();
        assertWhole();
    }

    @Test
    void anIndexThatWasMadeAnewStartsAPass() throws Exception {
        storeAndDamage();
        write("b", contents.get("a"));
        volume.close();
        try (Stream<Path> files = Files.walk(config.locations().hashDb())) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.delete(file);
            }
        }
        volume = Volume.open(config);
        TestWait.until(() -> unhealedChunks() == 0);
        assertWhole();
    }

    @Test
    void aPassThatFailsKeepsWhatItWasToLookAt() throws Exception {
        store("a", MIB);
        reopen();
        VolumeHeal heal = volume.maintenance().heal();
        heal.setDelays(0, 1);
        AtomicInteger refusals = new AtomicInteger(3);
        volume.context().collector().permit(() -> {
            if (refusals.getAndDecrement() > 0) {
                throw new IOException("not now");
            }
        });
        volume.context().damaged().found(firstContainer(), -1, 0, 2, new IOException("a test says so"));
        TestWait.until(() -> unhealedChunks() == 0);
        assertTrue(refusals.get() < 0, "it was refused three times before");
    }

    /** A collection that waits begins before the pass is at its end. */
    @Test
    void aPassLetsACollectionBeginBetweenTwoContainers() throws Exception {
        for (int i = 0; i < 4; i++) {
            store("f" + i, MIB);
            reopen();
        }
        List<Long> all = new ArrayList<>();
        volume.context().containers().forEachContainer(all::add);
        assertTrue(all.size() > 2, all::toString);
        volume.maintenance().heal().setDelays(TimeUnit.HOURS.toMillis(1), TimeUnit.HOURS.toMillis(1));
        for (long container : all) {
            volume.context().damaged().found(container, -1, 0, 1, new IOException("a test says so"));
        }
        AtomicLong healedBefore = new AtomicLong(-1);
        Thread[] other = new Thread[1];
        volume.maintenance().heal().run(soFar -> {
            if (soFar.containers() == 1 && other[0] == null) {
                other[0] = new Thread(() -> {
                    try {
                        volume.context().collector().withoutCollections(StopCheck.NEVER, isWanted -> {
                            healedBefore.set(volume.maintenance().heal().healedChunks());
                            return isWanted;
                        });
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                });
                other[0].start();
                while (other[0].isAlive() && other[0].getState() != Thread.State.TIMED_WAITING) {
                    Thread.onSpinWait();
                }
            }
            return true;
        });
        other[0].join();
        assertTrue(healedBefore.get() > 0 && healedBefore.get() < all.size(), healedBefore::toString);
        assertWhole();
    }

    /** It may last for hours, or be paused. */
    @Test
    void aPassThatWaitsForTheEndOfACollectionIsStopped() throws Exception {
        store("f", MIB);
        reopen();
        List<Long> all = new ArrayList<>();
        volume.context().containers().forEachContainer(all::add);
        volume.maintenance().heal().setDelays(TimeUnit.HOURS.toMillis(1), TimeUnit.HOURS.toMillis(1));
        volume.context().damaged().found(all.get(0), -1, 0, 1, new IOException("a test says so"));
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch ends = new CountDownLatch(1);
        Thread other = new Thread(() -> {
            try {
                volume.context().collector().withoutCollections(StopCheck.NEVER, isWanted -> {
                    runs.countDown();
                    Uninterruptibles.awaitUninterruptibly(ends);
                    return isWanted;
                });
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        AtomicInteger asked = new AtomicInteger();
        AtomicReference<IOException> stopped = new AtomicReference<>();
        Thread healing = new Thread(() -> {
            try {
                volume.maintenance().heal().run(soFar -> asked.incrementAndGet() < 5);
            } catch (IOException e) {
                stopped.set(e);
            }
        });
        other.start();
        try {
            Uninterruptibles.awaitUninterruptibly(runs);
            healing.start();
            TestWait.until(() -> stopped.get() instanceof InterruptedIOException);
        } finally {
            ends.countDown();
            other.join();
            healing.join();
        }
        volume.maintenance().heal().run(soFar -> true);
        assertWhole();
    }
}
