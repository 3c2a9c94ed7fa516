package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.chunkstash.ChunkStashIndexFactory;
import org.opendedup.sar.index.chunkstash.StashSettings;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.rewrite.KeptChunks;
import org.opendedup.sar.volume.store.ChunkIndexes;
import org.opendedup.sar.volume.store.VolumeStores;

/** What an exact pass joins, and what it leaves as it was. Containers and metadata are in memory. */
@Timeout(300)
class JoinTest {
    private static final int CHUNK = 4096;
    private static final int FILE = 300 * CHUNK;
    private static final KeptChunks UNVERIFIED = HashSet::new;
    private static final long INDEX_BYTES = 32 << 20;

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final SplittableRandom random = new SplittableRandom(seed);
    private final CrashDirectory data = new CrashDirectory(seed);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private final ForgetfulIndex forgetful = new ForgetfulIndex();
    private final Map<String, byte[]> contents = new TreeMap<>();
    private VolumeConfig config;
    private Volume volume;

    @BeforeEach
    void create() throws IOException {
        config = VolumeConfigs.in(folder, 4L << 30, Chunking.SHA256);
        Files.createDirectories(config.locations().metadata());
        Volume.create(config, data, metadata, InstantSource.system());
        open(new HeapChunkIndex());
    }

    private void open(ChunkIndex with) throws IOException {
        VolumeStores stores = new VolumeStores(data, metadata, forgetful.of(with), InstantSource.system());
        volume = Volume.open(config, stores, Verification.FINGERPRINTS);
    }

    private void reopen(ChunkIndex with) throws IOException {
        volume.close();
        open(with);
    }

    @AfterEach
    void close() throws IOException {
        assertSound();
        reopen(new HeapChunkIndex());
        assertSound();
        volume.close();
        assertFalse(Files.exists(config.locations().metadata().resolve("join")));
    }

    private void assertSound() throws IOException {
        volume.sync();
        for (Map.Entry<String, byte[]> file : contents.entrySet()) {
            byte[] expected = file.getValue();
            assertArrayEquals(expected, GarbageTrial.read(volume, file.getKey(), expected.length), file.getKey());
        }
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    private byte[] data(int bytes) {
        byte[] made = new byte[bytes];
        random.nextBytes(made);
        return made;
    }

    private void store(String name, byte[] bytes) throws IOException {
        GarbageTrial.store(volume, name, bytes);
        contents.put(name, bytes);
    }

    /** Stores a file whose content is stored already, as new: with some chunks of its own. */
    private void storeUnnoticed(String name, byte[] bytes) throws IOException {
        forgetful.setForgets(true);
        store(name, bytes);
        forgetful.setForgets(false);
    }

    /** One content three times: the second time with changed bytes at the end, the third time a part of it. */
    private void storeDuplicates() throws IOException {
        byte[] first = data(FILE);
        store("first", first);
        reopen(new HeapChunkIndex());
        byte[] second = first.clone();
        System.arraycopy(data(10 * CHUNK), 0, second, FILE - 10 * CHUNK, 10 * CHUNK);
        storeUnnoticed("second", second);
        storeUnnoticed("third", Arrays.copyOfRange(first, 50 * CHUNK, 150 * CHUNK));
    }

    /** Returns what an exact index would have stored of all files. */
    private long exactBytes() {
        return (300 + 10) * (long) CHUNK;
    }

    private JoinReport join() throws IOException {
        return join(JoinLimits.ALL);
    }

    private JoinReport join(JoinLimits limits) throws IOException {
        return volume.maintenance().join().run(limits, Progress.NONE);
    }

    private void collect() throws IOException {
        GarbageTrial.collect(volume, 0);
    }

    private long estimate() {
        return volume.maintenance().join().estimate().bytes();
    }

    private List<Long> chunks(String name) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        volume.forget(inode, 1);
        List<Long> chunks = new ArrayList<>();
        volume.context()
                .metadata()
                .recipes()
                .forEachPage(inode, 0, Long.MAX_VALUE, (page, recipe) -> add(recipe, chunks));
        return chunks;
    }

    private static void add(RecipePage recipe, List<Long> chunks) {
        for (int entry = 0; entry < recipe.count(); entry++) {
            chunks.add(recipe.chunkId(entry));
        }
    }

    @Test
    void aVolumeConvergesToTheExactSize() throws IOException {
        storeDuplicates();
        long twice = (290 + 100) * (long) CHUNK;
        assertEquals(exactBytes() + twice, volume.statistics().uniqueBytes());
        // The control: a collection alone gives nothing back.
        collect();
        assertEquals(exactBytes() + twice, volume.statistics().uniqueBytes());
        JoinReport report = join();
        assertEquals(twice, report.foundBytes(), report::toString);
        assertEquals(twice, report.joinedBytes(), report::toString);
        assertEquals(390, report.joinedChunks(), report::toString);
        assertTrue(report.complete(), report::toString);
        assertSound();
        assertEquals(exactBytes(), volume.statistics().uniqueBytes());
        assertEquals(twice, volume.statistics().garbageBytes());
        collect();
        assertEquals(exactBytes(), volume.statistics().uniqueBytes());
        assertEquals(0, volume.statistics().garbageBytes());
        JoinReport again = join();
        assertEquals(0, again.foundChunks(), again::toString);
        assertEquals(0, again.replacedReferences(), again::toString);
    }

    @ParameterizedTest
    @EnumSource(IndexClass.class)
    void whatIsKeptIsFoundAsDuplicate(IndexClass kind) throws IOException {
        volume.close();
        open(ChunkIndexes.open(kind, Files.createDirectories(folder.resolve("index")), INDEX_BYTES));
        byte[] first = data(FILE);
        store("first", first);
        storeUnnoticed("second", first);
        storeUnnoticed("third", Arrays.copyOfRange(first, 50 * CHUNK, 150 * CHUNK));
        assertEquals(400 * CHUNK, join().joinedBytes());
        collect();
        assertEquals(FILE, volume.statistics().uniqueBytes());
        store("again", first);
        store("a part", Arrays.copyOfRange(first, 20 * CHUNK, 170 * CHUNK));
        assertEquals(FILE, volume.statistics().uniqueBytes());
    }

    @Test
    void whatSamplesMissIsJoined() throws IOException {
        volume.close();
        var eighth = new StashSettings(1 << 20, 64, 1 << 20, 8, StashSettings.Samples.UNIFORM, 24);
        open(ChunkStashIndexFactory.open(Files.createDirectories(folder.resolve("index")), eighth));
        byte[] first = data(FILE);
        store("first", first);
        // Single chunks, each between others that are new: a sample brings no neighbour that is wanted.
        byte[] mixed = data(FILE);
        for (int chunk = 0; chunk < 300; chunk += 2) {
            System.arraycopy(first, chunk * CHUNK, mixed, chunk * CHUNK, CHUNK);
        }
        storeUnnoticed("mixed", mixed);
        long exact = FILE + 150L * CHUNK;
        assertTrue(volume.statistics().uniqueBytes() > exact);
        join();
        collect();
        assertEquals(exact, volume.statistics().uniqueBytes());
        store("again", first);
        join();
        collect();
        assertEquals(exact, volume.statistics().uniqueBytes());
        volume.close();
        open(new HeapChunkIndex());
    }

    @Test
    void aPassByItselfIsWorthItOnlyForMoreThanTheLastOneLeft() throws IOException {
        // The least that is worth a pass is 64 MiB.
        int bytes = 80 << 20;
        assertFalse(volume.maintenance().join().isWorthwhile());
        byte[] first = data(bytes);
        store("first", first);
        storeUnnoticed("second", first);
        assertTrue(volume.maintenance().join().isWorthwhile());
        JoinReport report = volume.maintenance().join().runGivingWay(JoinLimits.WORTHWHILE, Progress.NONE);
        assertEquals(bytes, report.joinedBytes(), report::toString);
        // The copies still exist, and the estimate has them.
        assertTrue(estimate() > JoinLimits.WORTHWHILE.minBytes());
        assertFalse(volume.maintenance().join().isWorthwhile());
        collect();
        assertFalse(volume.maintenance().join().isWorthwhile());
        storeUnnoticed("third", first);
        assertTrue(volume.maintenance().join().isWorthwhile());
    }

    /** Copies to which only files in snapshots refer, present files and both. */
    @Test
    void whatSnapshotsHaveIsJoinedToo() throws IOException {
        storeDuplicates();
        Map<String, String> before = TreeDigest.of(volume, Inode.ROOT);
        volume.snapshots().create("before", 0, false);
        volume.unlink(Inode.ROOT, "second".getBytes(UTF_8));
        contents.remove("second");
        long twice = (290 + 100) * (long) CHUNK;
        JoinReport report = join();
        assertEquals(twice, report.joinedBytes(), report::toString);
        collect();
        assertEquals(exactBytes(), volume.statistics().uniqueBytes());
        assertEquals(0, volume.statistics().garbageBytes());
        assertEquals(before, TreeDigest.of(volume, TreeDigest.snapshotRoot(volume, "before")));
        assertEquals(0, join().foundChunks());
    }

    @Test
    void theYoungestCopyIsKept() throws IOException {
        storeDuplicates();
        List<Long> third = chunks("third");
        List<Long> second = chunks("second");
        join();
        assertEquals(third, chunks("third"));
        assertEquals(third, chunks("first").subList(50, 150));
        assertEquals(second.subList(0, 50), chunks("first").subList(0, 50));
    }

    @Test
    void aCopyThatIsKnownToBeDamagedIsNotKept() throws IOException {
        storeDuplicates();
        List<Long> third = chunks("third");
        Lock changes = volume.context().committer().changes();
        changes.lock();
        try {
            for (long chunk : third) {
                int slot = ChunkId.slot(chunk);
                volume.context().metadata().counts().markDamaged(ChunkId.container(chunk), slot, slot + 1);
            }
        } finally {
            changes.unlock();
        }
        join();
        // References to the damaged copies lead to sound ones now.
        for (long chunk : third) {
            assertEquals(0, volume.context().metadata().counts().count(chunk));
        }
        assertEquals(chunks("second").subList(50, 150), chunks("third"));
        assertEquals(0, volume.context().metadata().totals().stored().damagedChunks());
    }

    /** Damages the frames of the youngest pack. Nobody has read them since. */
    private void damageYoungest() throws IOException {
        volume.close();
        String pack = data.list().stream()
                .filter(name -> PackFormat.numberOf(name).isPresent())
                .max((one, other) -> Long.compare(
                        PackFormat.numberOf(one).getAsLong(),
                        PackFormat.numberOf(other).getAsLong()))
                .orElseThrow();
        byte[] bytes = data.contents(pack);
        bytes[bytes.length / 2] ^= 1;
        data.put(pack, bytes);
        open(new HeapChunkIndex());
    }

    private int unreadable(String name) {
        try {
            return Arrays.equals(contents.get(name), GarbageTrial.read(volume, name, contents.get(name).length))
                    ? 0
                    : 1;
        } catch (IOException e) {
            return 1;
        }
    }

    @Test
    void aCopyThatTurnsOutToBeDamagedIsNotKept() throws IOException {
        store("first", data(FILE));
        reopen(new HeapChunkIndex());
        storeUnnoticed("second", contents.get("first"));
        damageYoungest();
        JoinReport report = join();
        assertTrue(report.unreadableChunks() > 0, report::toString);
        assertEquals(300, report.joinedChunks(), report::toString);
        assertTrue(report.complete(), report::toString);
        // References to the copies that cannot be read lead to sound ones now.
        assertEquals(0, unreadable("first") + unreadable("second"));
        collect();
        assertEquals(0, unreadable("first") + unreadable("second"));
        assertEquals(FILE, volume.statistics().uniqueBytes());
    }

    @Test
    void controlAnUnverifiedCopyLosesContent() throws IOException {
        store("first", data(FILE));
        reopen(new HeapChunkIndex());
        storeUnnoticed("second", contents.get("first"));
        damageYoungest();
        volume.maintenance().join().run(JoinLimits.ALL, Progress.NONE, UNVERIFIED);
        assertEquals(1, unreadable("first"));
        for (String name : List.of("first", "second")) {
            contents.remove(name);
            volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
        }
        volume.sync();
    }

    @Test
    void tooLittleIsNotJoined() throws IOException {
        storeDuplicates();
        JoinReport report = join(JoinLimits.WORTHWHILE);
        assertTrue(report.foundBytes() > 0, report::toString);
        assertEquals(0, report.replacedReferences());
        assertFalse(report.complete());
    }

    @Test
    void aPassThatIsStoppedGoesOn() throws IOException {
        storeDuplicates();
        boolean ended = false;
        for (int calls = 0; !ended; calls++) {
            int[] left = {calls};
            try {
                volume.maintenance().join().run(JoinLimits.ALL, (stage, done, of) -> {
                    if (left[0]-- <= 0) {
                        throw new InterruptedIOException("stopped");
                    }
                });
                ended = true;
            } catch (InterruptedIOException e) {
                assertSound();
            }
        }
        collect();
        assertEquals(exactBytes(), volume.statistics().uniqueBytes());
    }

    @Test
    void whatIsWrittenMeanwhileIsJoinedToo() throws IOException {
        storeDuplicates();
        int[] written = new int[1];
        volume.maintenance().join().run(JoinLimits.ALL, (stage, done, of) -> {
            try {
                store("meanwhile" + written[0]++, contents.get("second"));
                if (written[0] == 2) {
                    volume.unlink(Inode.ROOT, "third".getBytes(UTF_8));
                    contents.remove("third");
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        assertTrue(written[0] > 3);
        assertSound();
        join();
        collect();
        assertEquals(exactBytes(), volume.statistics().uniqueBytes());
        assertEquals(0, volume.statistics().garbageBytes());
    }

    @Test
    void theEstimateKnowsWhatWasWrittenAndAfterAPassEverything() throws IOException {
        long twice = (290 + 100) * (long) CHUNK;
        storeDuplicates();
        // "first" is older than the mount: only what "third" has of "second" is known.
        assertEquals(100 * CHUNK, estimate());
        assertEquals(100 * CHUNK, volume.statistics().storedTwiceBytes());
        assertFalse(volume.maintenance().join().estimate().isWhole());
        join(JoinLimits.WORTHWHILE);
        assertTrue(volume.maintenance().join().estimate().isWhole());
        assertEquals(twice, estimate());
        storeUnnoticed("fourth", Arrays.copyOf(contents.get("first"), 20 * CHUNK));
        assertEquals(twice + 20 * CHUNK, estimate());
        join();
        collect();
        assertEquals(0, estimate());
        store("found", contents.get("first"));
        assertEquals(0, estimate());
        storeUnnoticed("not found", contents.get("first"));
        assertEquals(FILE, estimate());
    }
}
