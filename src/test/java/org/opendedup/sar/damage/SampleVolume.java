package org.opendedup.sar.damage;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.model.SsdTroubles;
import org.opendedup.sar.model.TestVolumes;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.store.Ballasts;
import org.opendedup.sar.volume.store.VolumeLocations;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A small volume on real folders with a bit of everything: duplicates, some of them on the SSD, sparse files, extended
 * attributes, symbolic and hard links, renamed and deleted files, containers in their second generation, several
 * mounts, and an end without an unmount. Made once; each trial works on a copy.
 */
final class SampleVolume {
    static final Owner ROOT = new Owner(0, 0);
    /** In the names of a link and of an attribute, in the target of the link and in the value of the attribute. */
    static final String SECRET = "word-that-nobody-may-see";

    private static final int BLOCK = 16 << 10;
    private static final int MOUNTS = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** What the volume must give back, by the name in the root directory. */
    final Map<String, byte[]> files = new LinkedHashMap<>();

    final Map<String, byte[]> attributes = new LinkedHashMap<>();
    final Map<String, String> links = new LinkedHashMap<>();
    final Path folder;
    /** The locations as they were before the last mount. */
    final Path earlier;

    private final Chunking chunking;
    private final SplittableRandom random;

    SampleVolume(Path made, Chunking chunking, long seed) throws IOException {
        this.chunking = chunking;
        random = new SplittableRandom(seed);
        folder = made.resolve("volume");
        earlier = made.resolve("earlier");
        Path live = made.resolve("live");
        Volume.create(config(live));
        byte[] shared = random(12 * BLOCK);
        for (int mount = 0; mount < MOUNTS; mount++) {
            Volume volume = open(live);
            if (mount == 0) {
                links(volume);
            }
            fill(volume, mount, shared);
            if (mount == MOUNTS - 1) {
                awaitCopies(volume);
                volume.sync();
                copyOpen(live);
                volume.close();
            } else {
                volume.close();
                delete(earlier);
                copy(live, earlier);
            }
        }
        delete(live);
    }

    /** Opens the volume in a folder. It has no ballast: writing that would take longer than everything else. */
    Volume open(Path at) throws IOException {
        VolumeConfig config = config(at);
        VolumeStores stores = VolumeLocations.open(config, Ballasts.none());
        try {
            return Volume.open(config, stores, Verification.CHECKSUMS);
        } catch (IOException | RuntimeException e) {
            try (var metadata = stores.metadata();
                    var index = stores.index()) {
                throw e;
            }
        }
    }

    private VolumeConfig config(Path at) {
        return TestVolumes.config(at, chunking).withSsd(at.resolve("ssd"), SsdTroubles.SETTINGS);
    }

    private void links(Volume volume) throws IOException {
        volume.makeSymbolicLink(Inode.ROOT, name("link"), name("some/where"), ROOT);
        links.put("link", "some/where");
        volume.makeSymbolicLink(Inode.ROOT, name(SECRET + "-link"), name("some/" + SECRET), ROOT);
        links.put(SECRET + "-link", "some/" + SECRET);
    }

    private void fill(Volume volume, int mount, byte[] shared) throws IOException {
        String own = "own" + mount;
        make(volume, own, random(10 * BLOCK));
        make(volume, "shared" + mount, shared);
        byte[] sparse = new byte[40 * BLOCK];
        System.arraycopy(shared, BLOCK, sparse, 3 * BLOCK, 2 * BLOCK);
        System.arraycopy(random(BLOCK), 0, sparse, 30 * BLOCK, BLOCK);
        make(volume, "sparse" + mount, sparse);
        long inode = volume.lookup(Inode.ROOT, name(own)).inode();
        byte[] value = random(100 + 1000 * mount);
        volume.setExtendedAttribute(inode, name("user.note"), value, SetMode.CREATE_OR_REPLACE);
        attributes.put(own, value);
        volume.setExtendedAttribute(inode, name("user." + SECRET), name(SECRET.repeat(2)), SetMode.CREATE_OR_REPLACE);
        volume.link(inode, Inode.ROOT, name("hard" + mount));
        files.put("hard" + mount, files.get(own));
        volume.forget(inode, 2);
        // Half of the container becomes garbage, so that a collection writes it anew.
        byte[] whole = make(volume, "whole" + mount, random(16 * BLOCK));
        byte[] part = new byte[8 * BLOCK];
        for (int block = 0; block < 8; block++) {
            System.arraycopy(whole, 2 * block * BLOCK, part, block * BLOCK, BLOCK);
        }
        make(volume, "part" + mount, part);
        volume.unlink(Inode.ROOT, name("whole" + mount));
        files.remove("whole" + mount);
        volume.rename(Inode.ROOT, name("part" + mount), Inode.ROOT, name("kept" + mount), RenameMode.REPLACE);
        files.put("kept" + mount, files.remove("part" + mount));
        volume.sync();
        volume.collector().collect(new CollectionLimits(0, false), (done, of, returned) -> true);
    }

    /** Reads what is shared until the SSD has copies, so that its files are worth damaging. */
    private void awaitCopies(Volume volume) throws IOException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        do {
            read(volume, "shared0", files.get("shared0").length);
            if (System.nanoTime() > deadline) {
                throw new AssertionError(
                        "nothing came to the SSD: " + volume.hot().status());
            }
        } while (volume.hot().status().promotion().promoted() == 0
                || volume.hot().status().log().queuedChunks() > 0);
    }

    private byte[] make(Volume volume, String name, byte[] bytes) throws IOException {
        write(volume, name, bytes);
        volume.sync();
        files.put(name, bytes);
        return bytes;
    }

    private byte[] random(int bytes) {
        byte[] made = new byte[bytes];
        random.nextBytes(made);
        // Some of it compresses, so that frames with and without a codec exist.
        for (int i = 0; i < bytes / 3; i++) {
            made[i] &= 0x3f;
        }
        return made;
    }

    static byte[] name(String text) {
        return text.getBytes(UTF_8);
    }

    /** Writes a new file, but no zeros. */
    static void write(Volume volume, String name, byte[] bytes) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, name(name), 0100644, 0, ROOT).inode();
        try {
            OpenFile file = volume.open(inode, true);
            try {
                for (int at = 0; at < bytes.length; at += BLOCK) {
                    int length = Math.min(BLOCK, bytes.length - at);
                    if (!Arrays.equals(bytes, at, at + length, new byte[length], 0, length)) {
                        volume.write(file, at, ByteBuffer.wrap(bytes, at, length));
                    }
                }
                if (volume.attributes(inode).size() < bytes.length) {
                    volume.allocate(file, 0, bytes.length, false);
                }
            } finally {
                volume.close(file);
            }
        } finally {
            volume.forget(inode, 1);
        }
    }

    private static void read(Volume volume, String name, int length) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name(name)).inode();
        OpenFile file = volume.open(inode, false);
        try {
            for (int at = 0; at < length; at += BLOCK) {
                volume.read(file, at, ByteBuffer.allocate(BLOCK));
            }
        } finally {
            volume.close(file);
            volume.forget(inode, 1);
        }
    }

    /** The regular files of a copy of the volume, by their paths in it. */
    static Map<String, Path> filesOf(Path copy) throws IOException {
        Map<String, Path> found = new TreeMap<>();
        try (Stream<Path> walk = Files.walk(copy)) {
            walk.filter(Files::isRegularFile)
                    .forEach(file -> found.put(copy.relativize(file).toString(), file));
        }
        return found;
    }

    /** Copies an open volume as it is at one moment: again, if a thread in the background changed a file meanwhile. */
    private void copyOpen(Path live) {
        TestWait.until(() -> {
            try {
                delete(folder);
                Map<String, String> before = state(live);
                copy(live, folder);
                return state(live).equals(before);
            } catch (NoSuchFileException e) {
                return false;
            } catch (UncheckedIOException e) {
                if (e.getCause() instanceof NoSuchFileException) {
                    return false;
                }
                throw e;
            }
        });
    }

    /** The size and the time of the last change of each file. */
    private static Map<String, String> state(Path live) throws IOException {
        Map<String, String> state = new TreeMap<>();
        for (Map.Entry<String, Path> file : filesOf(live).entrySet()) {
            Path path = file.getValue();
            state.put(file.getKey(), Files.size(path) + " " + Files.getLastModifiedTime(path));
        }
        return state;
    }

    static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> walk = Files.walk(from)) {
            walk.forEach(path -> {
                try {
                    Files.copy(path, to.resolve(from.relativize(path).toString()));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> walk = Files.walk(folder)) {
            for (Path path : walk.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(path);
            }
        }
    }
}
