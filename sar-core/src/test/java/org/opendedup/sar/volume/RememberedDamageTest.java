package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** Damage detected in one mount counts in the next: content that is written again is stored as a new copy. */
final class RememberedDamageTest {
    @MemoryFolder
    Path folder;

    private final byte[] data = new byte[3 << 20];
    private VolumeConfig config;

    @BeforeEach
    void storeContent() throws IOException {
        new Random(1).nextBytes(data);
        config = VolumeConfigs.in(folder, 100L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            write(volume, "first");
        }
    }

    private void write(Volume volume, String name) throws IOException {
        GarbageTrial.store(volume, name, data);
    }

    private void damage() throws IOException {
        List<PackedContainer> containers = PackedContainer.in(config.locations().data());
        assertFalse(containers.isEmpty());
        for (PackedContainer container : containers) {
            container.flipBit(container.bytes() / 3);
        }
    }

    @Test
    void whatIsWrittenAfterARemountDoesNotReferToIt() throws IOException {
        damage();
        try (Volume volume = Volume.open(config)) {
            assertThrows(IOException.class, () -> GarbageTrial.read(volume, "first"));
        }
        try (Volume volume = Volume.open(config)) {
            write(volume, "second");
            assertArrayEquals(data, GarbageTrial.read(volume, "second"));
        }
        try (Volume volume = Volume.open(config)) {
            assertArrayEquals(data, GarbageTrial.read(volume, "second"));
            assertThrows(IOException.class, () -> GarbageTrial.read(volume, "first"));
        }
    }

    @Test
    void controlDamageThatNobodyNoticedIsReferredTo() throws IOException {
        damage();
        try (Volume volume = Volume.open(config)) {
            write(volume, "second");
            assertThrows(IOException.class, () -> GarbageTrial.read(volume, "second"));
        }
    }

    @Test
    void aContainerWhosePackIsGoneIsNotReferredTo() throws IOException {
        List<Path> packs = PackedContainer.packs(config.locations().data());
        assertFalse(packs.isEmpty());
        for (Path pack : packs) {
            Files.delete(pack);
        }
        try (Volume volume = Volume.open(config)) {
            write(volume, "second");
            assertArrayEquals(data, GarbageTrial.read(volume, "second"));
            assertThrows(IOException.class, () -> GarbageTrial.read(volume, "first"));
        }
    }
}
