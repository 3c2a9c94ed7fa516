package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.volume.care.DamageReport;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;

/** A volume in a folder whose containers are damaged and healed. For one thread. */
final class HealVolume implements Closeable {
    static final int MIB = 1 << 20;

    final VolumeConfig config;
    final Map<String, byte[]> contents = new TreeMap<>();
    private final SplittableRandom random;
    Volume volume;

    HealVolume(Path folder, long seed) throws IOException {
        random = new SplittableRandom(seed);
        config = VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        volume = Volume.open(config);
    }

    void open() throws IOException {
        volume = Volume.open(config);
    }

    void reopen() throws IOException {
        volume.close();
        open();
    }

    byte[] store(String name, int bytes) throws IOException {
        byte[] data = new byte[bytes];
        random.nextBytes(data);
        write(name, data);
        return data;
    }

    void write(String name, byte[] data) throws IOException {
        GarbageTrial.store(volume, name, data);
        contents.put(name, data);
    }

    /** Stores the begin of a file under another name. */
    void writeBegin(String of, int bytes, String name) throws IOException {
        byte[] begin = new byte[bytes];
        System.arraycopy(contents.get(of), 0, begin, 0, bytes);
        write(name, begin);
    }

    void remove(String name) throws IOException {
        volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
        volume.sync();
        contents.remove(name);
    }

    byte[] read(String name) throws IOException {
        return GarbageTrial.read(volume, name, contents.get(name).length);
    }

    /** Returns whether a part of a file can be read, and has the right bytes if so. */
    boolean canRead(String name, int from, int bytes) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        OpenFile file = volume.open(inode, false);
        try {
            ByteBuffer found = ByteBuffer.allocate(bytes);
            volume.read(file, from, found);
            byte[] wanted = new byte[bytes];
            System.arraycopy(contents.get(name), from, wanted, 0, bytes);
            assertArrayEquals(wanted, found.array(), name);
            return true;
        } catch (IOException e) {
            return false;
        } finally {
            volume.close(file);
            volume.forget(inode, 1);
        }
    }

    long damagedChunks() {
        return volume.maintenance().heal().unhealedChunks();
    }

    HealReport heal() throws IOException {
        return volume.maintenance().heal().run(soFar -> true);
    }

    ScrubTotals scrub() throws IOException {
        return volume.maintenance().scrub().run((totals, rest, next) -> true).totals();
    }

    List<PackedContainer> containers() throws IOException {
        return PackedContainer.in(config.locations().data());
    }

    List<Path> packs() throws IOException {
        return PackedContainer.packs(config.locations().data());
    }

    DamageReport damage() throws IOException {
        return volume.maintenance().damage().list((step, done, of) -> {});
    }

    /** All files are whole, nothing is known to be damaged, and neither a scrub nor a check finds anything. */
    void assertWhole() throws IOException {
        for (Map.Entry<String, byte[]> file : contents.entrySet()) {
            assertArrayEquals(file.getValue(), read(file.getKey()), file.getKey());
        }
        assertTrue(damage().isClean(), () -> "damage is known");
        assertEquals(0, damagedChunks());
        assertEquals(0, volume.context().damaged().missing());
        assertTrue(scrub().isClean());
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Override
    public void close() throws IOException {
        volume.close();
    }
}
