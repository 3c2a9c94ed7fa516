package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.TableRebuild;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.container.TestCiphers;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** Everything that reads or writes containers works on a volume with keys. */
final class EncryptedVolumeTest extends OpenVolumeTrial {
    private static final int FRAME_AT = 32;
    private static final int FRAME_HEADER_BYTES = 48;
    private static final int PROBE_BYTES = 16;

    @Override
    VolumeConfig configured() {
        return super.configured().withKeys(TestCiphers.keys(7, AeadCipher.AES_256_GCM));
    }

    private OfflineCheck offline() {
        return new OfflineCheck(config, (step, done, of) -> {}, InstantSource.system());
    }

    private List<Finding> defects() throws IOException {
        return offline().check().findings().stream()
                .filter(finding -> finding.severity() != Finding.Severity.NOTE)
                .toList();
    }

    /** Returns whether some bytes of a file are in a pack. */
    private static boolean isInPacks(byte[] file, List<Path> packs) throws IOException {
        Set<ByteBuffer> wanted = new HashSet<>();
        for (int at = 0; at + PROBE_BYTES <= file.length; at += 4096) {
            wanted.add(ByteBuffer.wrap(file, at, PROBE_BYTES));
        }
        for (Path pack : packs) {
            byte[] bytes = Files.readAllBytes(pack);
            for (int at = 0; at + PROBE_BYTES <= bytes.length; at++) {
                if (wanted.contains(ByteBuffer.wrap(bytes, at, PROBE_BYTES))) {
                    return true;
                }
            }
        }
        return false;
    }

    @Test
    void filesAreCollectedCheckedAndFoundAgainWithoutAByteOfThemInAPack() throws IOException {
        byte[] kept = store("kept", 2 * MIB);
        store("gone", 2 * MIB);
        assertFalse(isInPacks(kept, packs()));
        remove("gone");
        reopen();
        CollectionReport collected = GarbageTrial.collect(volume, 5);
        assertTrue(collected.removed() + collected.rewritten() > 0, collected::toString);
        assertWhole();
        assertFalse(isInPacks(kept, packs()));
        assertEquals(
                List.of(),
                volume.maintenance().check().run((step, done, of) -> {}).findings());
        volume.close();
        assertEquals(List.of(), defects());
        TableRebuild.Report rebuilt = offline().rebuildContainers();
        assertEquals(0, rebuilt.notFound(), rebuilt::toString);
        assertEquals(0, rebuilt.missingChunks(), rebuilt::toString);
        assertTrue(rebuilt.containers() > 0, rebuilt::toString);
        open();
        assertWhole();
        volume.close();
        // The control: the same file in a volume without keys.
        config = VolumeConfigs.in(folder.resolve("plain"), 4L << 30, Chunking.VARIABLE_SHA256)
                .withKeys(null);
        Volume.create(config);
        open();
        write("kept", kept);
        assertTrue(isInPacks(kept, packs()));
    }

    @Test
    void aFrameThatWasExchangedIsFoundByAScrubAndHealedFromACopy() throws IOException {
        byte[] data = store("a", 3 * MIB);
        volume.close();
        PackedContainer container = containers().get(0);
        byte[] bytes = container.read();
        // Other bytes in a payload, with a right checksum.
        ByteBuffer numbers = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int payload = FRAME_AT + FRAME_HEADER_BYTES + numbers.getInt(FRAME_AT + 28);
        for (int at = payload; at < payload + numbers.getInt(FRAME_AT + 36); at++) {
            bytes[at] ^= 1;
        }
        TestCiphers.putChecksum(bytes, FRAME_AT);
        container.overwrite(0, bytes);
        open();
        IOException refused = assertThrows(IOException.class, () -> read("a"));
        assertTrue(refused.getMessage().contains("changed or exchanged"), refused.getMessage());
        assertEquals(1, scrub().damagedFrames());
        assertTrue(unhealedChunks() > 0);
        assertEquals(0, heal().healedChunks(), "control: nothing to heal from");
        write("b", data);
        HealReport report = heal();
        assertEquals(List.of(), report.unhealed());
        assertTrue(report.fromCopies() > 0, report::toString);
        assertWhole();
        reopen();
        assertWhole();
    }
}
