package org.opendedup.sar.sdfs.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.keys.Argon2Cost;
import org.opendedup.sar.keys.KeyHeader;
import org.opendedup.sar.keys.KeyHeaderCopies;
import org.opendedup.sar.keys.Secret;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.volume.config.VolumeConfig;

class KeyHeaderWatchTest {
    private static final UUID VOLUME = new UUID(1, 2);
    private static final byte[] MASTER = new byte[VolumeKeys.KEY_BYTES];
    /** Where the header has its generation. */
    private static final int GENERATION = 24;

    @MemoryFolder
    Path folder;

    private final VolumeKeys keys = new VolumeKeys(MASTER, VOLUME, AeadCipher.AES_256_GCM);
    private VolumeConfig config;
    private Path data;
    private Path metadata;
    private byte[] good;

    @BeforeEach
    void writeBothCopies() throws IOException {
        config = Definitions.plain("pool0", folder).config().withKeys(keys);
        data = Files.createDirectories(config.locations().data()).resolve(KeyHeader.NAME);
        metadata = Files.createDirectories(config.locations().metadata()).resolve(KeyHeader.NAME);
        try (Secret secret = new Secret(Secret.Kind.PASSPHRASE, new byte[] {1})) {
            KeyHeader header = KeyHeader.create(
                    VOLUME, AeadCipher.AES_256_GCM, MASTER, "", Instant.now(), new Argon2Cost(64, 1, 1), secret);
            assertEquals(
                    List.of(),
                    KeyHeaderCopies.in(data.getParent(), metadata.getParent()).write(header, null));
        }
        good = Files.readAllBytes(data);
    }

    /** A header of a higher generation with a right checksum, as somebody without the master key makes it. */
    private byte[] forged() {
        ByteBuffer bytes = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(GENERATION, bytes.getLong(GENERATION) + 1);
        return ParserSet.withCrc(bytes.array(), -4);
    }

    @Test
    void theKeysOfTheMountTellAForgedCopy() throws IOException {
        var watch = new KeyHeaderWatch(config, Duration.ofMinutes(1), Duration.ofDays(1));
        assertEquals(List.of(), watch.faults());
        Files.write(data, forged());
        assertOnly(watch.faults(), data + ": somebody without the master key changed it");
        List<String> withoutKeys = KeyHeaderCopies.in(data.getParent(), metadata.getParent())
                .read(VOLUME)
                .faults();
        assertOnly(withoutKeys, metadata + ": it is of an older generation");
        Files.write(metadata, forged());
        assertOnly(watch.faults(), "the key header was changed by somebody without the master key");
        Files.delete(data);
        Files.delete(metadata);
        assertOnly(watch.faults(), "is missing");
        assertEquals(List.of(), new KeyHeaderWatch(config.withKeys(null)).faults(), "not encrypted");
    }

    private static void assertOnly(List<String> faults, String words) {
        assertTrue(faults.size() == 1 && faults.get(0).contains(words), faults.toString());
    }

    /** A pipe without a writer stands for a disk that hangs: it keeps who opens it. */
    @Test
    void aDiskThatHangsKeepsNobodyWaiting() throws Exception {
        Files.delete(metadata);
        assertEquals(
                0, new ProcessBuilder("mkfifo", metadata.toString()).start().waitFor());
        Path pipe = metadata.resolveSibling("pipe");
        try {
            var patient = new KeyHeaderWatch(config, Duration.ofMillis(10), Duration.ofDays(1));
            assertEquals(List.of(), patient.faults(), "a disk may be waking up");
            Set<Thread> before = looking();
            var watch = new KeyHeaderWatch(config, Duration.ofMillis(10), Duration.ZERO);
            for (int i = 0; i < 5; i++) {
                assertOnly(watch.faults(), "a disk does not answer");
            }
            Set<Thread> more = looking();
            more.removeAll(before);
            assertEquals(1, more.size(), more::toString);
            Files.move(metadata, pipe);
            Files.write(metadata, good);
            // Opened for reading too, it waits for no reader: the looks may not have come to the pipe.
            FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE)
                    .close();
            TestWait.until(() -> watch.faults().isEmpty());
        } finally {
            if (Files.exists(metadata)) {
                Files.deleteIfExists(pipe);
            }
        }
    }

    private static Set<Thread> looking() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("sdfs-key-header"))
                .collect(Collectors.toSet());
    }
}
