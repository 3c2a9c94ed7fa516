package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A volume in memory with garbage: containers that are wholly dead, partly dead and alive. Made once; each trial works
 * on a copy.
 */
public final class GarbageTrial {
    private static final int BLOCK = 64 << 10;
    private static final int MOUNTS = 3;
    private static final List<byte[]> WORDS = IntStream.range(0, 400)
            .mapToObj(word -> (Long.toString(word * 7919L, 36) + " ").getBytes(UTF_8))
            .toList();
    /** Bytes that a pack may take besides its containers: what the collector tolerates, and the header. */
    private static final long TOLERATED_BYTES = 80 << 10;

    /** zstd level with which collections compress anew; 0 for none. */
    private final int level;

    final VolumeConfig config;
    private final SplittableRandom random;
    private final Map<String, byte[]> contents = new TreeMap<>();
    private final CrashDirectory data;
    private final CrashKeyValueStore metadata;

    GarbageTrial(VolumeConfig config, long seed) throws IOException {
        this(config, seed, 0);
    }

    /**
     * @param level zstd level with which collections compress anew: then there are also containers without garbage, of
     *     which some get smaller by it; 0 for none
     */
    GarbageTrial(VolumeConfig config, long seed, int level) throws IOException {
        this.level = level;
        this.config = config;
        random = new SplittableRandom(seed);
        CrashDirectory directory = new CrashDirectory(seed);
        CrashKeyValueStore database = new CrashKeyValueStore();
        Volume.create(config, directory, database, InstantSource.system());
        Map<String, byte[]> dead = new HashMap<>();
        for (int mount = 0; mount < MOUNTS; mount++) {
            try (Volume volume = open(directory, database)) {
                write(volume, "alive" + mount, random(3 * BLOCK));
                dead.put("dead" + mount, write(volume, "dead" + mount, random(4 * BLOCK)));
                byte[] whole = write(volume, "whole" + mount, random(8 * BLOCK));
                volume.sync();
                byte[] part = new byte[4 * BLOCK];
                for (int block = 0; block < 4; block++) {
                    System.arraycopy(whole, 2 * block * BLOCK, part, block * BLOCK, BLOCK);
                }
                write(volume, "part" + mount, part);
                dead.put("whole" + mount, whole);
            }
        }
        if (level > 0) {
            try (Volume volume = open(directory, database)) {
                write(volume, "text", text(8 * BLOCK));
            }
            try (Volume volume = open(directory, database)) {
                write(volume, "noise", random(2 * BLOCK));
            }
        }
        try (Volume volume = open(directory, database)) {
            for (String name : dead.keySet()) {
                volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
                contents.remove(name);
            }
        }
        data = directory;
        metadata = database;
        // It remembers its batches, so that copies can be made of it any number of times.
        metadata.crash(seed);
    }

    CrashDirectory data(long seed) {
        return data.crash(seed);
    }

    CrashKeyValueStore metadata() throws IOException {
        return metadata.crash(0);
    }

    byte[] random(int bytes) {
        byte[] made = new byte[bytes];
        random.nextBytes(made);
        return made;
    }

    /** Words of a small vocabulary: a high level of zstd compresses them much better than a low one. */
    byte[] text(int bytes) {
        return text(random, bytes);
    }

    /** Bytes that compress well: 400 words in a random order. */
    static byte[] text(SplittableRandom random, int bytes) {
        byte[] made = new byte[bytes];
        int at = 0;
        while (at < bytes) {
            byte[] word = WORDS.get(random.nextInt(WORDS.size()));
            int length = Math.min(word.length, bytes - at);
            System.arraycopy(word, 0, made, at, length);
            at += length;
        }
        return made;
    }

    Volume open(Directory directory, KeyValueStore database) throws IOException {
        VolumeStores stores = new VolumeStores(directory, database, new HeapChunkIndex(), InstantSource.system());
        return Volume.open(config, stores, Verification.FINGERPRINTS);
    }

    /** Stores a file durably, and remembers its bytes. */
    byte[] write(Volume volume, String name, byte[] bytes) throws IOException {
        store(volume, name, bytes);
        contents.put(name, bytes);
        return bytes;
    }

    void remove(Volume volume, String name) throws IOException {
        volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
        volume.sync();
        contents.remove(name);
    }

    public static void store(Volume volume, String name, byte[] bytes) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(1, 1))
                .inode();
        OpenFile file = volume.open(inode, true);
        try {
            for (int at = 0; at < bytes.length; at += 1 << 20) {
                volume.write(file, at, ByteBuffer.wrap(bytes, at, Math.min(1 << 20, bytes.length - at)));
            }
            volume.sync();
        } finally {
            volume.close(file);
            volume.forget(inode, 1);
        }
    }

    /** Reads a file to the end that its inode says. */
    public static byte[] read(Volume volume, String name) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        try {
            return read(volume, name, (int) volume.attributes(inode).size());
        } finally {
            volume.forget(inode, 1);
        }
    }

    static byte[] read(Volume volume, String name, int bytes) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        OpenFile file = volume.open(inode, false);
        try {
            ByteBuffer found = ByteBuffer.allocate(bytes);
            while (found.hasRemaining() && volume.read(file, found.position(), found) > 0) {}
            return found.array();
        } finally {
            volume.close(file);
            volume.forget(inode, 1);
        }
    }

    CollectionReport collect(Volume volume) throws IOException {
        return collect(volume, level);
    }

    /** Collects all garbage, and compresses anew with {@code level}. */
    static CollectionReport collect(Volume volume, int level) throws IOException {
        return volume.collector().collect(new CollectionLimits(0, false, level, true), (done, of, returned) -> true);
    }

    /** What is wrong with the files and the counts; an error of a read is a problem like any other. */
    List<String> problems(Volume volume) throws IOException {
        List<String> problems = problems(volume, contents);
        if (volume.context().containers().hasLost()) {
            problems.add("slots are taken for lost");
        }
        volume.context().metadata().containers().forEach(entry -> {
            if (entry.damagedSlots() > 0) {
                problems.add("container " + entry.container() + " is taken for damaged");
            }
        });
        return problems;
    }

    /** What is wrong with files of the root directory, by name, and with the counts. */
    public static List<String> problems(Volume volume, Map<String, byte[]> contents) throws IOException {
        List<String> problems = new ArrayList<>(VolumeChecker.check(volume));
        contents.forEach((name, bytes) -> {
            try {
                if (!Arrays.equals(bytes, read(volume, name))) {
                    problems.add(name + " has other bytes");
                }
            } catch (IOException e) {
                problems.add(name + ": " + e);
            }
        });
        return problems;
    }

    /** What is wrong with the space that the packs take after a collection of everything. */
    static List<String> waste(Volume volume, CrashDirectory directory) throws IOException {
        Map<Long, Long> named = new HashMap<>();
        List<String> waste = new ArrayList<>();
        boolean freesRanges = freesRanges(directory);
        volume.context().metadata().containers().forEach(entry -> {
            named.merge(entry.stored().pack(), PackFormat.align(entry.stored().bytes()), Long::sum);
            if (garbage(entry) > 0 && freesRanges) {
                waste.add("container " + entry.container() + " has garbage: " + entry);
            }
        });
        long[] packs = directory.list().stream()
                .map(PackFormat::numberOf)
                .flatMapToLong(OptionalLong::stream)
                .sorted()
                .toArray();
        for (int i = 0; i < packs.length; i++) {
            Long bytes = named.get(packs[i]);
            if (bytes == null && i < packs.length - 1) {
                waste.add("pack " + packs[i] + " has no container");
            }
            long allocated = directory.allocatedBytes(PackFormat.fileName(packs[i]));
            // Where no range comes back, at most half of a pack is dead.
            long wanted = bytes == null ? 0 : freesRanges ? bytes : 2 * bytes;
            if (allocated > TOLERATED_BYTES + wanted) {
                waste.add("pack " + packs[i] + " takes " + allocated + " bytes for " + bytes);
            }
        }
        return waste;
    }

    private static boolean freesRanges(CrashDirectory directory) throws IOException {
        List<String> packs = directory.list().stream()
                .filter(name -> PackFormat.numberOf(name).isPresent())
                .toList();
        return packs.isEmpty() || directory.freesRanges(packs.get(0));
    }

    /** What is wrong with the levels of the containers after a collection of everything. */
    List<String> notRecompressed(Volume volume) throws IOException {
        List<String> wrong = new ArrayList<>();
        volume.context().metadata().containers().forEach(entry -> {
            if (entry.stored().recompressed() != level) {
                wrong.add("container " + entry.container() + " has another level than " + level + ": " + entry);
            }
        });
        return wrong;
    }

    private static long garbage(ContainerEntry entry) {
        return entry.stored().rawBytes() - entry.liveBytes();
    }

    /**
     * What is wrong with what was found after a failure or a crash: with files and counts, at once, after another
     * collection, and after a crash behind that; and with the space that collection left.
     */
    List<String> problemsFrom(CrashDirectory directory, CrashKeyValueStore database, long seed) throws IOException {
        List<String> problems = new ArrayList<>();
        CrashDirectory directoryLeft;
        CrashKeyValueStore databaseLeft;
        Volume volume = open(directory, database);
        try {
            problems.addAll(problems(volume));
            collect(volume);
            problems.addAll(problems(volume));
            problems.addAll(waste(volume, directory));
            problems.addAll(notRecompressed(volume));
        } finally {
            databaseLeft = database.crash(seed);
            directoryLeft = directory.crash(seed);
            VolumeInMemory.abandon(volume);
        }
        try (Volume again = open(directoryLeft, databaseLeft)) {
            problems.addAll(problems(again));
            byte[] more = random(BLOCK);
            store(again, "more", more);
            if (!Arrays.equals(more, read(again, "more", BLOCK))) {
                problems.add("what is written later has other bytes");
            }
            problems.addAll(VolumeChecker.check(again));
        }
        return problems;
    }
}
