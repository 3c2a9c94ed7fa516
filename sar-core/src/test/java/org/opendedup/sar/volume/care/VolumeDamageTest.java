package org.opendedup.sar.volume.care;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.check.DamagedFiles;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.LostChunks;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.volume.GarbageTrial;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.care.DamageReport.FileDamage;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** The list of damage names exactly the bytes that cannot be read. */
final class VolumeDamageTest {
    private static final int STEP = 1024;

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);
    private final Map<String, byte[]> files = new TreeMap<>();
    private VolumeConfig config;

    @BeforeEach
    void storeFiles() throws IOException {
        config = VolumeConfigs.in(folder, 100L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        byte[] shared = new byte[1 << 20];
        random.nextBytes(shared);
        try (Volume volume = Volume.open(config)) {
            for (int i = 0; i < 5; i++) {
                byte[] data = new byte[(2 << 20) + random.nextInt(1 << 20)];
                random.nextBytes(data);
                System.arraycopy(shared, 0, data, random.nextInt(data.length - shared.length), shared.length);
                // A part that is zeros, in which nothing is stored.
                int zeros = random.nextInt(data.length - (256 << 10));
                Arrays.fill(data, zeros, zeros + (256 << 10), (byte) 0);
                files.put("file" + i, data);
                write(volume, "file" + i, data);
            }
            volume.link(inode(volume, "file0"), Inode.ROOT, "other name".getBytes(UTF_8));
        }
    }

    private static long inode(Volume volume, String name) throws IOException {
        return volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
    }

    private static void write(Volume volume, String name, byte[] data) throws IOException {
        GarbageTrial.store(volume, name, data);
    }

    private void damage() throws IOException {
        for (PackedContainer container : PackedContainer.in(config.locations().data())) {
            container.flipBit(container.bytes() / 3);
        }
    }

    private static DamageReport list(Volume volume) throws IOException {
        return volume.maintenance().damage().list((step, done, of) -> {});
    }

    /** The steps of a file that cannot be read. */
    private static BitSet unreadable(Volume volume, String name, byte[] data) throws IOException {
        BitSet bad = new BitSet();
        OpenFile file = volume.open(inode(volume, name), false);
        for (int from = 0; from < data.length; from += STEP) {
            try {
                volume.read(file, from, ByteBuffer.allocate(Math.min(STEP, data.length - from)));
            } catch (IOException e) {
                bad.set(from / STEP);
            }
        }
        volume.close(file);
        return bad;
    }

    private static BitSet listed(DamageReport report, long inode) {
        BitSet bad = new BitSet();
        for (FileDamage file : report.files()) {
            if (file.inode() == inode) {
                file.ranges()
                        .forEach(range -> bad.set((int) (range.from() / STEP), (int) ((range.to() - 1) / STEP) + 1));
            }
        }
        return bad;
    }

    private void assertListIsExact(Volume volume, boolean finds) throws IOException {
        Map<String, BitSet> bad = new TreeMap<>();
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            bad.put(file.getKey(), unreadable(volume, file.getKey(), file.getValue()));
        }
        DamageReport report = list(volume);
        for (Map.Entry<String, BitSet> file : bad.entrySet()) {
            assertEquals(file.getValue(), listed(report, inode(volume, file.getKey())), file.getKey());
        }
        assertEquals(finds, !report.isClean(), "the damage was found");
        for (FileDamage file : report.files()) {
            List<String> names =
                    file.inode() == inode(volume, "file0") ? List.of("/file0", "/other name") : file.paths();
            assertEquals(names, file.paths());
            assertFalse(names.isEmpty());
        }
    }

    @Test
    void exactlyTheBytesThatCannotBeReadAreListedAlsoAfterARemount() throws IOException {
        damage();
        try (Volume volume = Volume.open(config)) {
            assertListIsExact(volume, true);
        }
        DamageReport remembered;
        try (Volume volume = Volume.open(config)) {
            remembered = list(volume);
            assertListIsExact(volume, true);
            assertEquals(remembered.files(), list(volume).files(), "nothing more was found");
            ScrubTotals totals = volume.maintenance()
                    .scrub()
                    .run((soFar, rest, next) -> true)
                    .totals();
            assertTrue(totals.damagedFrames() > 0, totals::toString);
            assertEquals(ScrubTotals.References.NONE, totals.references(), "damaged chunks are no damage of metadata");
        }
        Map<Long, BitSet> listed = new TreeMap<>();
        remembered.files().forEach(file -> listed.put(file.inode(), listed(remembered, file.inode())));
        assertEquals(listed, checked(), "a check of the unmounted volume, which reads no chunk, knows them too");
    }

    /** Returns the steps of files that a check of the unmounted volume names as damaged. */
    private Map<Long, BitSet> checked() throws IOException {
        Map<Long, BitSet> bad = new TreeMap<>();
        OfflineCheck check = new OfflineCheck(config, (step, done, of) -> {}, InstantSource.system());
        for (Finding finding : check.check().findings()) {
            assertEquals(Finding.Kind.DAMAGED_CHUNKS, finding.kind(), finding::toString);
            assertEquals(Finding.Severity.LOSS, finding.severity(), finding::toString);
            for (DamagedFile file : finding.files()) {
                BitSet steps = bad.computeIfAbsent(file.inode(), none -> new BitSet());
                file.ranges()
                        .forEach(range -> steps.set((int) (range.from() / STEP), (int) ((range.to() - 1) / STEP) + 1));
            }
        }
        return bad;
    }

    @Test
    void controlASoundVolumeHasNoDamage() throws IOException {
        try (Volume volume = Volume.open(config)) {
            assertListIsExact(volume, false);
        }
    }

    @Test
    void controlDamageThatNobodyFoundIsNotListed() throws IOException {
        damage();
        try (Volume volume = Volume.open(config)) {
            assertTrue(list(volume).isClean());
        }
        assertEquals(Map.of(), checked());
    }

    @Test
    void aMissingPackIsListedFromMountingUntilItIsBack() throws IOException {
        Path pack = PackedContainer.packs(config.locations().data()).get(0);
        Path away = Files.move(pack, folder.resolve("away"));
        try (Volume volume = Volume.open(config)) {
            volume.context().damaged().noteMissingPacks();
            assertListIsExact(volume, true);
            assertTrue(list(volume).faults().stream()
                    .anyMatch(fault -> !fault.pack().isEmpty()));
        }
        Files.move(away, pack);
        try (Volume volume = Volume.open(config)) {
            volume.context().damaged().noteMissingPacks();
            assertListIsExact(volume, false);
        }
    }

    @Test
    void aFileWithoutANameIsListedByItsInodeWhileItIsOpen() throws IOException {
        damage();
        try (Volume volume = Volume.open(config)) {
            long inode = inode(volume, "file1");
            unreadable(volume, "file1", files.get("file1"));
            OpenFile open = volume.open(inode, false);
            volume.unlink(Inode.ROOT, "file1".getBytes(UTF_8));
            assertTrue(list(volume).files().stream()
                    .anyMatch(file -> file.inode() == inode && file.paths().isEmpty()));
            volume.close(open);
        }
    }

    @Test
    void aListCanBeStopped() throws IOException {
        damage();
        try (Volume volume = Volume.open(config)) {
            unreadable(volume, "file1", files.get("file1"));
            assertThrows(
                    InterruptedIOException.class,
                    () -> volume.maintenance().damage().list((step, done, of) -> {
                        throw new InterruptedIOException("stopped");
                    }));
        }
    }

    /** Of a failing disk, each file may have damaged bytes: the list must not need memory for all of them. */
    @Test
    void ofMoreFilesThanAreKeptNumberAndBytesAreCounted() throws IOException {
        damage();
        try (Volume volume = Volume.open(config)) {
            volume.maintenance().scrub().run((totals, rest, next) -> true);
            LostChunks lost = DamagePlaces.of(volume.context().metadata(), new TreeMap<>())
                    .lost();
            DamagedFiles all = damagedFiles(volume, lost, Integer.MAX_VALUE);
            Map<Integer, List<DamagedFile>> wanted = all.run();
            DamagedFiles some = damagedFiles(volume, lost, 2);
            Map<Integer, List<DamagedFile>> found = some.run();
            assertEquals(0, all.more().files());
            assertTrue(inodes(wanted) > 3, "control: more files are damaged");
            assertEquals(2, inodes(found));
            assertEquals(inodes(wanted) - 2, some.more().files());
            assertEquals(bytes(wanted), bytes(found) + some.more().bytes());
            for (int finding : wanted.keySet()) {
                DamagedFiles.More more = some.moreOfFindings().get(finding);
                assertEquals(
                        wanted.get(finding).size(),
                        found.getOrDefault(finding, List.of()).size() + (more == null ? 0 : more.files()));
            }
        }
    }

    /** Any user can nest folders to any depth. */
    @Test
    void thePathOfADeepFileIsShortened() throws IOException {
        damage();
        String name = "n".repeat(255);
        try (Volume volume = Volume.open(config)) {
            long at = Inode.ROOT;
            for (int depth = 0; depth < 20; depth++) {
                at = volume.makeDirectory(at, name.getBytes(UTF_8), 0755, new Owner(0, 0))
                        .inode();
            }
            // Which files have chunks in the damaged frames depends on when frames were written.
            String hit = null;
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                hit = unreadable(volume, file.getKey(), file.getValue()).isEmpty() ? hit : file.getKey();
            }
            assertNotNull(hit);
            long inode = inode(volume, hit);
            volume.link(inode, at, "deep".getBytes(UTF_8));
            volume.sync();
            LostChunks lost = DamagePlaces.of(volume.context().metadata(), new TreeMap<>())
                    .lost();
            List<String> paths = damagedFiles(volume, lost, Integer.MAX_VALUE).run().values().stream()
                    .flatMap(List::stream)
                    .filter(file -> file.inode() == inode)
                    .findFirst()
                    .orElseThrow()
                    .paths();
            assertTrue(paths.contains("/" + hit), "control: a path that is not long");
            assertTrue(paths.contains("/..." + ("/" + name).repeat(4096 / 256) + "/deep"), paths::toString);
        }
    }

    private static DamagedFiles damagedFiles(Volume volume, LostChunks lost, int most) {
        return new DamagedFiles(volume.context().metadata(), lost, (step, done, of) -> {}, true, most);
    }

    private static long inodes(Map<Integer, List<DamagedFile>> found) {
        return found.values().stream()
                .flatMap(List::stream)
                .mapToLong(DamagedFile::inode)
                .distinct()
                .count();
    }

    private static long bytes(Map<Integer, List<DamagedFile>> found) {
        return found.values().stream()
                .flatMap(List::stream)
                .mapToLong(DamagedFile::bytes)
                .sum();
    }
}
