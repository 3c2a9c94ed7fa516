package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.PresentRecords;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.engine.DamagedFrames;
import org.opendedup.sar.volume.parts.VolumeContext;

/** What a collection does with frames that cannot be read, with lost containers, and on disks without holes. */
@Timeout(300)
class CollectionFaultTest {
    private final long seed = TestSeed.next();
    private GarbageTrial trial;

    @BeforeEach
    void makeGarbage() throws IOException {
        trial = new GarbageTrial(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.SHA256), seed);
    }

    @Test
    void whatCannotBeReadStaysAndTheRestIsCollected() throws IOException {
        CrashDirectory data = trial.data(seed);
        CrashKeyValueStore metadata = trial.metadata();
        try (Volume volume = trial.open(data, metadata)) {
            List<ContainerEntry> partlyDead = new ArrayList<>();
            volume.context().metadata().containers().forEach(entry -> {
                if (entry.liveBytes() > 0 && entry.liveBytes() < entry.stored().rawBytes()) {
                    partlyDead.add(entry);
                }
            });
            assertTrue(partlyDead.size() > 1);
            ContainerEntry bad = partlyDead.get(0);
            String pack = PackFormat.fileName(bad.stored().pack());
            int from = (int) bad.stored().offset() + 5000;
            data.failReads(pack, from, from + 512);
            CollectionReport report = trial.collect(volume);
            assertEquals(1, report.keptContainers(), report::toString);
            assertEquals(partlyDead.size() - 1, report.rewritten(), report::toString);
            assertTrue(report.removed() > 0, report::toString);
            assertEquals(List.of(), VolumeChecker.check(volume));
            assertTrue(
                    volume.context()
                                    .metadata()
                                    .counts()
                                    .damaged(bad.container())
                                    .cardinality()
                            > 0,
                    "what cannot be read is marked");
            assertEquals(
                    1,
                    trial.collect(volume).keptContainers(),
                    "a marked frame is not copied either: its block may be readable another time");
            data.failReads(pack, 0, 0);
            volume.maintenance().heal().run(soFar -> true);
            CollectionReport again = trial.collect(volume);
            assertEquals(1, again.rewritten(), again::toString);
            assertEquals(0, again.keptContainers(), again::toString);
            assertEquals(List.of(), trial.problems(volume));
            assertEquals(List.of(), GarbageTrial.waste(volume, data));
        }
    }

    @Test
    void aBlockThatCannotBeReadInAFrameWithoutFilesKeepsNoGarbage() throws IOException {
        CrashDirectory data = trial.data(seed);
        CrashKeyValueStore metadata = trial.metadata();
        try (Volume volume = trial.open(data, metadata)) {
            int[] dead = new int[1];
            volume.context().metadata().containers().forEach(entry -> {
                long container = entry.container();
                if (entry.liveBytes() == 0 || dead[0] > 0) {
                    return;
                }
                var counts = volume.context().metadata().counts().ofContainer(container);
                LocatedTable at = volume.context().containers().located(container);
                var table = at.table();
                for (int frame = 0; frame < table.frames() && dead[0] == 0; frame++) {
                    int end = table.firstSlot(frame) + table.slotCount(frame);
                    boolean isUsed = false;
                    for (int slot = table.firstSlot(frame); slot < end; slot++) {
                        isUsed |= counts.count(slot) > 0;
                    }
                    if (!isUsed) {
                        // All blocks that have bytes of this frame only.
                        int from = (int) (at.start(frame) + 4095) & -4096;
                        int to = (int) at.end(frame) & -4096;
                        if (to > from) {
                            data.failReads(PackFormat.fileName(at.pack()), from, to);
                            dead[0]++;
                        }
                    }
                }
            });
            assertEquals(1, dead[0], "a frame without files, in a container with some");
            CollectionReport report = trial.collect(volume);
            assertEquals(0, report.keptContainers(), report::toString);
            assertEquals(List.of(), trial.problems(volume));
        }
    }

    /** What is damaged: bytes under a checksum that does not hold any more, or under one that was made for them. */
    enum Damage {
        CHECKSUM_DOES_NOT_HOLD,
        FINGERPRINT_DIFFERS
    }

    /**
     * The first collection only notes the damage: it could be an error of that one read. The second copies what is
     * whole, and the damaged frame as it is. With a checksum that was made for wrong bytes, a read that does not
     * compare fingerprints succeeds, before and after: so the check would notice a checksum that hides damage.
     */
    @ParameterizedTest
    @EnumSource
    void aDamagedFrameIsCopiedAsItIs(Damage damage) throws IOException {
        CrashDirectory data = trial.data(seed);
        CrashKeyValueStore metadata = trial.metadata();
        ContainerEntry[] bad = new ContainerEntry[1];
        int frame;
        byte[] damaged;
        try (Volume volume = trial.open(data, metadata)) {
            volume.context().metadata().containers().forEach(entry -> {
                if (entry.liveBytes() > 0 && entry.liveBytes() < entry.stored().rawBytes()) {
                    bad[0] = entry;
                }
            });
            frame = frameInUse(volume, bad[0].container());
            damaged = damage(data, volume, bad[0], frame, damage);
        }
        try (Volume volume = trial.open(data, metadata)) {
            CollectionReport first = GarbageTrial.collect(volume, 0);
            assertEquals(1, first.keptContainers(), first::toString);
            assertEquals(bad[0].stored(), entry(volume, bad[0]).stored(), "it stays where it was");
            assertTrue(entry(volume, bad[0]).damagedSlots() > 0);

            CollectionReport second = GarbageTrial.collect(volume, 0);
            assertEquals(0, second.keptContainers(), second::toString);
            assertEquals(1, second.rewritten(), second::toString);
            assertTrue(second.returnedBytes() > 0, second::toString);
            ContainerEntry now = entry(volume, bad[0]);
            assertTrue(now.damagedSlots() > 0);
            assertTrue(now.stored().bytes() < bad[0].stored().bytes());

            LocatedTable at = volume.context().containers().located(bad[0].container());
            byte[] copied = ByteBuffer.allocate(damaged.length)
                    .put(
                            data.contents(PackFormat.fileName(at.pack())),
                            (int) at.start(frame),
                            at.table().fileLength(frame))
                    .array();
            assertEquals(!isReadable(damage), Arrays.equals(damaged, copied));
            for (int each = 0; each < at.table().frames(); each++) {
                assertEquals(each != frame, canRead(volume, bad[0].container(), each, true), "frame " + each);
            }
            assertEquals(isReadable(damage), canRead(volume, bad[0].container(), frame, false));

            CollectionReport third = GarbageTrial.collect(volume, 0);
            assertEquals(0, third.victims(), third::toString);
        }
        try (Volume volume = trial.open(data, metadata)) {
            assertTrue(entry(volume, bad[0]).damagedSlots() > 0);
            assertEquals(isReadable(damage), canRead(volume, bad[0].container(), frame, false));
        }
    }

    /** In an encrypted volume the tag is wrong as well. */
    private boolean isReadable(Damage damage) {
        return damage == Damage.FINGERPRINT_DIFFERS && trial.config.keys() == null;
    }

    private static ContainerEntry entry(Volume volume, ContainerEntry of) throws IOException {
        ContainerEntry[] found = new ContainerEntry[1];
        volume.context().metadata().containers().forEach(entry -> {
            if (entry.container() == of.container()) {
                found[0] = entry;
            }
        });
        return found[0];
    }

    private static int frameInUse(Volume volume, long container) throws IOException {
        int[] inUse = new int[1];
        PresentRecords.forEachCounted(volume.context().metadata(), (id, counts) -> {
            for (int slot = 0; id == container && slot < counts.slots(); slot++) {
                inUse[0] = counts.count(slot) > 0 ? slot : inUse[0];
            }
        });
        return volume.context().containers().frameOf(ChunkId.of(container, inUse[0]));
    }

    private static boolean canRead(Volume volume, long container, int frame, boolean verify) throws IOException {
        if (volume.context().containers().frameTable(container).isRemoved(frame)) {
            return true;
        }
        try {
            volume.context().containers().frame(container, frame, verify);
            return true;
        } catch (CorruptionException e) {
            return false;
        }
    }

    /** Changes the last byte of the frame's chunks, and returns the frame. */
    private static byte[] damage(CrashDirectory data, Volume volume, ContainerEntry entry, int frame, Damage damage)
            throws IOException {
        LocatedTable at = volume.context().containers().located(entry.container());
        int start = (int) at.start(frame);
        int end = start + at.table().fileLength(frame) - FrameFormat.CRC_BYTES;
        String pack = PackFormat.fileName(at.pack());
        byte[] bytes = data.contents(pack);
        bytes[end - 1] ^= 1;
        if (damage == Damage.FINGERPRINT_DIFFERS) {
            CRC32C crc = new CRC32C();
            crc.update(bytes, start, end - start);
            ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(end, (int) crc.getValue());
        }
        data.put(pack, bytes);
        return Arrays.copyOfRange(bytes, start, end + FrameFormat.CRC_BYTES);
    }

    /**
     * A container of which a crash left nothing has its counts as long as files refer to it, and its entry until then.
     */
    @Test
    void whatIsLostIsForgottenOnceNoFileRefersToIt() throws IOException {
        CrashDirectory data = trial.data(seed);
        CrashKeyValueStore metadata = trial.metadata();
        Volume volume = trial.open(data, metadata);
        GarbageTrial.store(volume, "lost", trial.random(1 << 20));
        List<ContainerEntry> open = new ArrayList<>();
        volume.context().metadata().containers().forEachOpen(open::add);
        CrashDirectory dataLeft = data.crash(seed);
        CrashKeyValueStore metadataLeft = metadata.crash(seed);
        VolumeInMemory.abandon(volume);
        assertEquals(1, open.size());
        long container = open.get(0).container();
        StoredContainer place = open.get(0).stored();
        String pack = PackFormat.fileName(place.pack());
        byte[] bytes = dataLeft.contents(pack);
        Arrays.fill(bytes, (int) place.offset(), bytes.length, (byte) 0);
        dataLeft.put(pack, bytes);
        try (Volume again = trial.open(dataLeft, metadataLeft)) {
            assertThrows(IOException.class, () -> GarbageTrial.read(again, "lost", 1 << 20));
            GarbageTrial.collect(again, 0);
            assertFalse(counts(again).alive(container).isEmpty(), "the control: a file refers to it");
            again.unlink(Inode.ROOT, "lost".getBytes(UTF_8));
            GarbageTrial.collect(again, 0);
            assertTrue(counts(again).alive(container).isEmpty());
            assertEquals(List.of(), VolumeChecker.check(again));
        }
        try (Volume again = trial.open(dataLeft, metadataLeft)) {
            assertEquals(List.of(), trial.problems(again));
            assertNull(again.context().metadata().containers().get(container));
            assertFalse(counts(again).committed(0, Integer.MAX_VALUE).contains(container));
        }
    }

    private static ReferenceCounts counts(Volume volume) {
        return volume.context().metadata().counts();
    }

    /** A reader that was ahead of a change wants a chunk that is gone, of a frame from which others are used. */
    @Test
    void aReaderOfACollectedChunkDoesNotMarkTheFrame() throws IOException {
        CrashDirectory data = trial.data(seed);
        CrashKeyValueStore metadata = trial.metadata();
        try (Volume volume = trial.open(data, metadata)) {
            GarbageTrial.collect(volume, 0);
            VolumeContext context = volume.context();
            long[] chunks = new long[2];
            PresentRecords.forEachCounted(context.metadata(), (container, counts) -> {
                for (int slot = 0; slot < counts.slots(); slot++) {
                    chunks[0] = ChunkId.of(container, counts.slots());
                    chunks[1] = counts.isAlive(slot) ? ChunkId.of(container, slot) : chunks[1];
                }
            });
            int frame = context.containers().frameOf(chunks[1]);
            DamagedFrames damaged = new DamagedFrames(
                    context.containers(),
                    context.metadata(),
                    context.committer().changes(),
                    Runnable::run);
            IOException cause = new IOException("not what the recipe says");
            damaged.damagedChunk(1, chunks[0], frame, cause);
            assertTrue(context.metadata().counts().isReferable(chunks[1]));
            damaged.damagedChunk(1, chunks[1], frame, cause);
            assertFalse(context.metadata().counts().isReferable(chunks[1]), "the control: a chunk in use");
        }
    }

    /** A file system without holes: only whole packs come back, so the last containers of dead ones are moved. */
    @Test
    void mostlyDeadPacksAreWrittenAnewWhereNoRangeCanBeReleased() throws IOException {
        CrashDirectory data = trial.data(seed);
        CrashKeyValueStore metadata = trial.metadata();
        data.refuseReleases();
        long before = allocated(data);
        try (Volume volume = trial.open(data, metadata)) {
            CollectionReport report = trial.collect(volume);
            assertTrue(report.rewritten() > 0 && report.removed() > 0, report::toString);
            assertTrue(report.copiedBytes() <= report.returnedBytes(), report::toString);
            assertEquals(before - allocated(data), report.returnedBytes(), 200_000);
            assertEquals(List.of(), GarbageTrial.waste(volume, data));
            assertEquals(List.of(), trial.problems(volume));
            // Nothing more comes back, and nothing is promised.
            CollectionReport again = trial.collect(volume);
            assertEquals(0, again.rewritten() + again.removed() + again.strayBytes(), again::toString);
        }
        try (Volume volume = trial.open(data, metadata)) {
            assertEquals(List.of(), trial.problems(volume));
        }
    }

    /** A container of a pack that is mostly alive would be written for nothing. */
    @Test
    void packsThatAreMostlyAliveStayWhereNoRangeCanBeReleased() throws IOException {
        CrashDirectory data = trial.data(seed);
        CrashKeyValueStore metadata = trial.metadata();
        try (Volume volume = trial.open(data, metadata)) {
            GarbageTrial.collect(volume, 0);
            trial.write(volume, "much", trial.random(3 << 20));
            GarbageTrial.store(volume, "little", trial.random(1 << 20));
            trial.write(volume, "more", trial.random(2 << 20));
        }
        data.refuseReleases();
        try (Volume volume = trial.open(data, metadata)) {
            volume.unlink(Inode.ROOT, "little".getBytes(UTF_8));
        }
        try (Volume volume = trial.open(data, metadata)) {
            CollectionReport report = GarbageTrial.collect(volume, 0);
            assertTrue(report.garbageBytes() >= 1 << 20, report::toString);
            assertEquals(0, report.rewritten(), report::toString);
            assertEquals(0, report.copiedBytes(), report::toString);
            assertEquals(List.of(), trial.problems(volume));
        }
    }

    /** The packs that are written anew give the room for the next ones. */
    @Test
    void littleRoomIsEnoughWhereNoRangeCanBeReleased() throws IOException {
        CrashDirectory data = trial.data(seed);
        CrashKeyValueStore metadata = trial.metadata();
        data.refuseReleases();
        try (Volume volume = trial.open(data, metadata)) {
            // Of three mounts with about 500 KiB each that stay.
            data.noSpaceAfter(700 << 10);
            CollectionReport report = GarbageTrial.collect(volume, 0);
            assertTrue(data.refusedAppends() > 0);
            assertEquals(3, report.rewritten(), report::toString);
            assertEquals(List.of(), GarbageTrial.waste(volume, data));
            assertEquals(List.of(), trial.problems(volume));
        }
    }

    private static long allocated(CrashDirectory data) throws IOException {
        long bytes = 0;
        for (String name : data.list()) {
            bytes += data.allocatedBytes(name);
        }
        return bytes;
    }

    /** Control: a read of a victim that gives other bytes, unnoticed, is a problem that the checks find. */
    @Test
    void controlWrongBytesInAFileAreNoticed() throws IOException {
        CrashDirectory data = trial.data(seed);
        CrashKeyValueStore metadata = trial.metadata();
        try (Volume volume = trial.open(data, metadata)) {
            volume.context().metadata().containers().forEach(entry -> {
                String pack = PackFormat.fileName(entry.stored().pack());
                byte[] bytes = data.contents(pack);
                bytes[(int) entry.stored().offset() + 5000] ^= 1;
                data.put(pack, bytes);
            });
        }
        try (Volume volume = trial.open(data, metadata)) {
            assertFalse(trial.problems(volume).isEmpty());
        }
    }
}
