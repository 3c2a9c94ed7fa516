package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** For tests of an open volume in a folder: makes it, closes it, and remembers what was written. For one thread. */
abstract class OpenVolumeTrial {
    static final int MIB = 1 << 20;

    @MemoryFolder
    Path folder;

    final SplittableRandom random = new SplittableRandom(TestSeed.next());
    /** The bytes of the files, by name. */
    final Map<String, byte[]> contents = new HashMap<>();

    VolumeConfig config;
    Volume volume;

    /** Returns what volume to make. */
    VolumeConfig configured() {
        return VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256);
    }

    @BeforeEach
    final void makeVolume() throws IOException {
        config = configured();
        Volume.create(config);
        volume = Volume.open(config);
    }

    @AfterEach
    final void closeVolume() throws IOException {
        volume.close();
    }

    final void open() throws IOException {
        volume = Volume.open(config);
    }

    final void reopen() throws IOException {
        volume.close();
        open();
    }

    final byte[] random(int bytes) {
        byte[] made = new byte[bytes];
        random.nextBytes(made);
        return made;
    }

    /** Stores a file of random bytes durably. */
    final byte[] store(String name, int bytes) throws IOException {
        byte[] data = random(bytes);
        write(name, data);
        return data;
    }

    /** Stores a file durably. */
    final void write(String name, byte[] data) throws IOException {
        GarbageTrial.store(volume, name, data);
        contents.put(name, data);
    }

    /** Stores the begin of a file under another name. */
    final void writeBegin(String of, int bytes, String name) throws IOException {
        write(name, Arrays.copyOf(contents.get(of), bytes));
    }

    final void remove(String name) throws IOException {
        volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
        volume.sync();
        contents.remove(name);
    }

    final byte[] read(String name) throws IOException {
        return GarbageTrial.read(volume, name, contents.get(name).length);
    }

    /** Returns whether a part of a file can be read, and has the right bytes if so. */
    final boolean canRead(String name, int from, int bytes) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        OpenFile file = volume.open(inode, false);
        try {
            ByteBuffer found = ByteBuffer.allocate(bytes);
            volume.read(file, from, found);
            assertArrayEquals(Arrays.copyOfRange(contents.get(name), from, from + bytes), found.array(), name);
            return true;
        } catch (IOException e) {
            return false;
        } finally {
            volume.close(file);
            volume.forget(inode, 1);
        }
    }

    /** Makes an empty file. */
    final long make(String name) throws IOException {
        return volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
    }

    /** Writes to a file durably. */
    final void write(long inode, long offset, byte[] data) throws IOException {
        OpenFile file = volume.open(inode, true);
        for (int at = 0; at < data.length; at += MIB) {
            volume.write(file, offset + at, ByteBuffer.wrap(data, at, Math.min(MIB, data.length - at)));
        }
        volume.sync();
        volume.close(file);
    }

    /** Reads a file to its end. */
    final byte[] read(long inode) throws IOException {
        OpenFile file = volume.open(inode, false);
        ByteBuffer found = ByteBuffer.allocate((int) volume.attributes(inode).size());
        while (found.hasRemaining() && volume.read(file, found.position(), found) > 0) {}
        volume.close(file);
        assertEquals(found.capacity(), found.position());
        return found.array();
    }

    /** Returns the containers on the disk. */
    final List<PackedContainer> containers() throws IOException {
        return PackedContainer.in(config.locations().data());
    }

    final List<Path> packs() throws IOException {
        return PackedContainer.packs(config.locations().data());
    }

    final long damagedChunks() {
        return volume.context().metadata().totals().stored().damagedChunks();
    }

    final long unhealedChunks() {
        return volume.maintenance().heal().unhealedChunks();
    }

    final HealReport heal() throws IOException {
        return volume.maintenance().heal().run(soFar -> true);
    }

    final ScrubTotals scrub() throws IOException {
        return volume.maintenance().scrub().run((totals, rest, next) -> true).totals();
    }

    final void assertContents() throws IOException {
        for (Map.Entry<String, byte[]> file : contents.entrySet()) {
            assertArrayEquals(file.getValue(), read(file.getKey()), file.getKey());
        }
    }

    /** All files are whole, nothing is known to be damaged, and neither a scrub nor a check finds anything. */
    final void assertWhole() throws IOException {
        assertContents();
        assertTrue(volume.maintenance().damage().list((step, done, of) -> {}).isClean(), "damage is known");
        assertEquals(0, unhealedChunks());
        assertEquals(0, volume.context().damaged().missing());
        assertTrue(scrub().isClean());
        assertConsistent();
    }

    final void assertConsistent() throws IOException {
        assertEquals(List.of(), VolumeChecker.check(volume));
    }
}
