package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.receive.SnapshotReceiver;
import org.opendedup.sar.volume.store.VolumeStores;

/** A stream that changes files which lie on the fast tier of the receiver. */
@Timeout(300)
class ReceiveRawTest {
    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final CrashDirectory data = new CrashDirectory(seed);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private final CrashRawFolder raw = new CrashRawFolder(seed);
    private VolumeConfig config;

    private VolumeConfig config(String name) throws IOException {
        VolumeConfig made = VolumeConfigs.in(folder.resolve(name), 4L << 30, Chunking.VARIABLE_SHA256);
        Files.createDirectories(made.locations().metadata());
        return made;
    }

    private VolumeStores stores() {
        return new VolumeStores(data, metadata, new HeapChunkIndex(), InstantSource.system()).withRaw(volume -> raw);
    }

    private Volume open() throws IOException {
        return Volume.open(config, stores(), Verification.CHECKSUMS);
    }

    private static Map<String, String> in(Volume volume, String snapshot) throws IOException {
        return TreeDigest.of(volume, TreeDigest.snapshotRoot(volume, snapshot));
    }

    @Test
    void filesOnTheFastTierGetTheBytesOfTheStream() throws IOException {
        config = RawStores.of(config("first"));
        Volume.create(config, data, metadata, InstantSource.system());
        RandomTree tree = new RandomTree(new SplittableRandom(seed));
        VolumeInMemory copy = VolumeInMemory.create(config("copy"), seed);
        byte[] all;
        Map<String, String> before;
        try (Volume volume = open()) {
            tree.change(volume, 80);
            volume.snapshots().create("before", 0, false);
            before = in(volume, "before");
            all = TestSender.stream(volume, "before", null);
        }
        assertNotEquals(List.of(), raw.numbers(), "files lie on the fast tier");
        try (SnapshotReceiver receiver = copy.receiver()) {
            var unused = receiver.receive(TestSender.begun(all), null, false, Progress.NONE);
            receiver.end();
        }
        byte[] back;
        Map<String, String> there;
        try (Volume volume = copy.open()) {
            tree.change(volume, 80);
            volume.snapshots().create("there", 0, false);
            there = in(volume, "there");
            back = TestSender.stream(volume, "there", "before");
        }
        try (SnapshotReceiver receiver = new SnapshotReceiver(
                () -> VolumeContext.open(config, stores(), Verification.CHECKSUMS, VolumeContext.Purpose.RECEIVING),
                config.locations().metadata())) {
            var unused = receiver.receive(TestSender.begun(back), null, false, Progress.NONE);
        }
        assertEquals(List.of(), raw.numbers());
        try (Volume volume = open()) {
            assertEquals(there, TreeDigest.of(volume, Inode.ROOT), "seed " + seed);
            assertEquals(there, in(volume, "there"), "seed " + seed);
            assertEquals(before, in(volume, "before"), "seed " + seed);
            assertEquals(List.of(), VolumeChecker.check(volume), "seed " + seed);
        }
    }
}
