package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.HookedKeyValueStore;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.ChunkIndexes;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Metadata, containers and index of a volume are copied at any time, also while it is mounted, and replaced by such
 * copies, each separately. In every combination, the volume opens; data written and synced from then on is read back,
 * at once and after further mounts; and data written before gives its bytes or an error, never other bytes.
 */
final class ExchangedLocationsTest {
    private static final int MOUNTS = TestSeed.rounds(12);
    private static final int BLOCKS = 24;
    private static final int BLOCK_BYTES = 50_000;

    private final long seed = TestSeed.next();

    @MemoryFolder
    Path folder;

    private VolumeConfig config;
    private int folders;

    /** The parts of a volume that is not mounted. */
    private record Parts(KeyValueStore metadata, CrashDirectory data, Path index) {}

    /** Everything that was ever copied. */
    private record Archive(List<KeyValueStore> metadata, List<CrashDirectory> data, List<Path> indexes) {
        Archive() {
            this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        }
    }

    @Test
    void whatIsWrittenAfterAnyExchangeReadsBack() throws IOException {
        exchangeOften(seed, MOUNTS, index -> index);
    }

    @Test
    void controlAnIndexThatDoesNotTellItsEpochLosesWhatIsWritten() throws IOException {
        boolean noticed = false;
        for (int attempt = 0; attempt < 10 && !noticed; attempt++) {
            try {
                exchangeOften(seed + attempt, MOUNTS, SilentIndex::new);
            } catch (AssertionError e) {
                noticed = String.valueOf(e.getMessage()).startsWith(LOST);
            }
        }
        assertTrue(noticed, "the check does not notice an index of another time");
    }

    /** Begins the message about a file that was synced and does not have its bytes. */
    private static final String LOST = "lost: ";

    private interface Disguise {
        ChunkIndex of(ChunkIndex index);
    }

    private void exchangeOften(long runSeed, int mounts, Disguise disguise) throws IOException {
        Random random = new Random(runSeed * 0x9E3779B97F4A7C15L);
        folder = folder.resolve("run" + folders++);
        config = VolumeConfigs.in(folder, 100L << 30, Chunking.VARIABLE_SHA256);
        Archive archive = new Archive();
        Parts parts = make(random.nextLong());
        Parts other = make(random.nextLong());
        archive.indexes.add(runAndKill(other, new Mount(random, new HashMap<>()), new Archive(), disguise).index);
        Map<String, byte[]> synced = new HashMap<>();
        for (int mount = 0; mount < mounts; mount++) {
            Parts exchanged = exchange(parts, archive, random);
            if (exchanged != parts) {
                synced = new HashMap<>();
            }
            parts = runAndKill(exchanged, new Mount(random, synced), archive, disguise);
        }
    }

    private Parts make(long dataSeed) throws IOException {
        CrashDirectory data = new CrashDirectory(dataSeed);
        KeyValueStore metadata = new HeapKeyValueStore();
        Volume.create(config, data, metadata, InstantSource.system());
        return new Parts(metadata, data, Files.createDirectories(newFolder()));
    }

    private Path newFolder() {
        return folder.resolve("index" + folders++);
    }

    private static Parts exchange(Parts parts, Archive archive, Random random) {
        if (random.nextInt(3) == 0) {
            return parts;
        }
        KeyValueStore metadata =
                random.nextInt(3) == 0 ? any(archive.metadata, parts.metadata, random) : parts.metadata;
        CrashDirectory data = random.nextInt(3) == 0 ? any(archive.data, parts.data, random) : parts.data;
        Path index = random.nextInt(3) == 0 ? any(archive.indexes, parts.index, random) : parts.index;
        return new Parts(metadata, data, index);
    }

    private static <T> T any(List<T> copies, T otherwise, Random random) {
        return copies.isEmpty() ? otherwise : copies.get(random.nextInt(copies.size()));
    }

    /** The work of one mount, and what it must find. */
    private record Mount(Random random, Map<String, byte[]> synced) {}

    /** Mounts copies of the parts, works, and copies the parts after a kill or an unmount. */
    private Parts runAndKill(Parts parts, Mount mount, Archive archive, Disguise disguise) throws IOException {
        KeyValueStore metadata = copy(parts.metadata);
        CrashDirectory data = copy(parts.data, mount.random.nextLong());
        Path indexFolder = newFolder();
        copyFolder(parts.index, indexFolder);
        ChunkIndex index = ChunkIndexes.openRocksDb(indexFolder, ChunkIndexes.MIN_MEMORY_BYTES);
        VolumeStores stores =
                new VolumeStores(data, new Unclosed(metadata), disguise.of(index), InstantSource.system());
        Volume volume = Volume.open(config, stores, Verification.CHECKSUMS);
        try {
            check(volume, mount.synced, true);
            int steps = 1 + mount.random.nextInt(4);
            for (int step = 0; step < steps; step++) {
                work(volume, mount);
                check(volume, mount.synced, true);
                keepCopies(metadata, data, index, indexFolder, archive, mount.random);
            }
            if (mount.random.nextBoolean()) {
                Parts killed = new Parts(copy(metadata), copy(data, 0), newFolder());
                copyOpenIndex(index, indexFolder, killed.index);
                return killed;
            }
        } finally {
            volume.close();
        }
        return new Parts(metadata, data, indexFolder);
    }

    private void keepCopies(
            KeyValueStore metadata,
            CrashDirectory data,
            ChunkIndex index,
            Path indexFolder,
            Archive archive,
            Random random)
            throws IOException {
        if (random.nextInt(3) == 0) {
            archive.metadata.add(copy(metadata));
        }
        if (random.nextInt(3) == 0) {
            archive.data.add(copy(data, random.nextLong()));
        }
        if (random.nextInt(3) == 0) {
            Path kept = newFolder();
            copyOpenIndex(index, indexFolder, kept);
            archive.indexes.add(kept);
        }
    }

    /** Makes and removes files of a few blocks each; some blocks repeat often. */
    private void work(Volume volume, Mount mount) throws IOException {
        Random random = mount.random;
        for (int i = random.nextInt(4); i >= 0; i--) {
            StringBuilder name = new StringBuilder("f").append(random.nextInt(1 << 30));
            for (int block = random.nextInt(8); block >= 0; block--) {
                name.append('-').append(random.nextInt(BLOCKS));
            }
            byte[] contents = contents(name.toString());
            long inode = volume.makeNode(Inode.ROOT, name.toString().getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                    .inode();
            OpenFile file = volume.open(inode, true);
            volume.write(file, 0, ByteBuffer.wrap(contents));
            if (random.nextInt(4) > 0) {
                volume.sync(file);
                mount.synced.put(name.toString(), contents);
            }
            volume.close(file);
        }
        if (random.nextInt(4) == 0 && !mount.synced.isEmpty()) {
            String name = mount.synced.keySet().iterator().next();
            volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
            mount.synced.remove(name);
            volume.sync();
        }
    }

    private static byte[] contents(String name) {
        String[] parts = name.split("-");
        byte[] contents = new byte[(parts.length - 1) * BLOCK_BYTES];
        for (int i = 1; i < parts.length; i++) {
            byte[] block = new byte[BLOCK_BYTES];
            new Random(Long.parseLong(parts[i]) * 7919 + 1).nextBytes(block);
            System.arraycopy(block, 0, contents, (i - 1) * BLOCK_BYTES, BLOCK_BYTES);
        }
        return contents;
    }

    /** Reads every file: those that must exist do, and are right; all others are right as far as they can be read. */
    private static void check(Volume volume, Map<String, byte[]> synced, boolean withOthers) throws IOException {
        Map<String, Long> names = new TreeMap<>();
        volume.list(Inode.ROOT, 0, false, (bytes, inode, type, cookie, attributes) -> {
            String name = new String(bytes, UTF_8);
            if (name.startsWith("f")) {
                names.put(name, inode);
            }
            return true;
        });
        for (String name : synced.keySet()) {
            assertTrue(names.containsKey(name), LOST + name);
            try {
                assertArrayEquals(synced.get(name), read(volume, names.get(name)), LOST + name);
            } catch (IOException e) {
                throw new AssertionError(LOST + name, e);
            }
        }
        for (Map.Entry<String, Long> each : names.entrySet()) {
            if (withOthers && !synced.containsKey(each.getKey())) {
                checkAsFarAsReadable(volume, each.getKey(), each.getValue());
            }
        }
    }

    private static void checkAsFarAsReadable(Volume volume, String name, long inode) throws IOException {
        byte[] expected = contents(name);
        OpenFile file = volume.open(inode, false);
        try {
            long size = volume.attributes(inode).size();
            byte[] part = new byte[50_000];
            for (int at = 0; at < size; at += part.length) {
                int length = (int) Math.min(part.length, size - at);
                try {
                    volume.read(file, at, ByteBuffer.wrap(part, 0, length));
                } catch (IOException lost) {
                    continue;
                }
                for (int i = 0; i < length; i++) {
                    if (part[i] != expected[at + i]) {
                        throw new AssertionError(name + " has wrong bytes at " + (at + i));
                    }
                }
            }
        } finally {
            volume.close(file);
        }
    }

    private static byte[] read(Volume volume, long inode) throws IOException {
        OpenFile file = volume.open(inode, false);
        try {
            byte[] data = new byte[(int) volume.attributes(inode).size()];
            volume.read(file, 0, ByteBuffer.wrap(data));
            return data;
        } finally {
            volume.close(file);
        }
    }

    private static KeyValueStore copy(KeyValueStore store) throws IOException {
        KeyValueStore copy = new HeapKeyValueStore();
        try (KeyValueStore.Batch batch = copy.batch()) {
            for (KeyValueStore.Family family : KeyValueStore.Family.values()) {
                try (KeyValueStore.Cursor cursor = store.scan(family, new byte[0], new byte[] {(byte) 0xff})) {
                    while (cursor.next()) {
                        batch.put(family, cursor.key(), cursor.value());
                    }
                }
            }
            batch.commit();
        }
        return copy;
    }

    private static CrashDirectory copy(CrashDirectory directory, long copySeed) throws IOException {
        CrashDirectory copy = new CrashDirectory(copySeed);
        for (String name : directory.list()) {
            try {
                copy.put(name, directory.contents(name));
            } catch (NoSuchFileException renamed) {
                return copy(directory, copySeed);
            }
        }
        return copy;
    }

    /** Copies the index's files until none changed meanwhile. */
    private static void copyOpenIndex(ChunkIndex index, Path from, Path to) throws IOException {
        index.flush();
        while (true) {
            try {
                Map<String, Long> before = sizes(from);
                copyFolder(from, to);
                if (sizes(from).equals(before)) {
                    return;
                }
            } catch (NoSuchFileException changed) {
                // Once more.
            }
            if (Files.isDirectory(to)) {
                for (String name : sizes(to).keySet()) {
                    Files.delete(to.resolve(name));
                }
            }
        }
    }

    private static Map<String, Long> sizes(Path index) throws IOException {
        Map<String, Long> sizes = new TreeMap<>();
        try (Stream<Path> files = Files.list(index)) {
            for (Path file : files.toList()) {
                sizes.put(file.getFileName().toString(), Files.size(file));
            }
        }
        return sizes;
    }

    private static void copyFolder(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        for (String name : sizes(from).keySet()) {
            Files.copy(from.resolve(name), to.resolve(name));
        }
    }

    /** Metadata that continues to exist after the volume is closed. */
    private static final class Unclosed extends HookedKeyValueStore<KeyValueStore> {
        Unclosed(KeyValueStore store) {
            super(store);
        }

        @Override
        public long logBytes() throws IOException {
            return store.logBytes();
        }

        @Override
        public void close() {}
    }
}
