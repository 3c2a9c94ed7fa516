package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** Damage detected in one mount counts in the next: content that is written again is stored as a new copy. */
final class RememberedDamageTest {
    @TempDir
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
        long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(data));
        volume.sync(file);
        volume.close(file);
    }

    private byte[] read(Volume volume, String name) throws IOException {
        OpenFile file =
                volume.open(volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode(), false);
        try {
            byte[] found = new byte[data.length];
            volume.read(file, 0, ByteBuffer.wrap(found));
            return found;
        } finally {
            volume.close(file);
        }
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
            assertThrows(IOException.class, () -> read(volume, "first"));
        }
        try (Volume volume = Volume.open(config)) {
            write(volume, "second");
            assertArrayEquals(data, read(volume, "second"));
        }
        try (Volume volume = Volume.open(config)) {
            assertArrayEquals(data, read(volume, "second"));
            assertThrows(IOException.class, () -> read(volume, "first"));
        }
    }

    @Test
    void controlDamageThatNobodyNoticedIsReferredTo() throws IOException {
        damage();
        try (Volume volume = Volume.open(config)) {
            write(volume, "second");
            assertThrows(IOException.class, () -> read(volume, "second"));
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
            assertArrayEquals(data, read(volume, "second"));
            assertThrows(IOException.class, () -> read(volume, "first"));
        }
    }
}
