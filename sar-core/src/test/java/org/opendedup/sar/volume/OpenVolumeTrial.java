package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** For tests of an open volume in a folder: makes it, closes it, and remembers what was written. */
abstract class OpenVolumeTrial {
    @TempDir
    Path folder;

    final SplittableRandom random = new SplittableRandom(TestSeed.next());
    /** The bytes of the files, by name. */
    final Map<String, byte[]> contents = new HashMap<>();

    VolumeConfig config;
    Volume volume;

    @BeforeEach
    final void makeVolume() throws IOException {
        config = VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        volume = Volume.open(config);
    }

    @AfterEach
    final void closeVolume() throws IOException {
        volume.close();
    }

    final void reopen() throws IOException {
        volume.close();
        volume = Volume.open(config);
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

    final byte[] read(String name) throws IOException {
        return GarbageTrial.read(volume, name, contents.get(name).length);
    }

    /** Returns the containers on the disk. */
    final List<PackedContainer> containers() throws IOException {
        return PackedContainer.in(config.locations().data());
    }

    final long damagedChunks() {
        return volume.context().metadata().totals().stored().damagedChunks();
    }
}
