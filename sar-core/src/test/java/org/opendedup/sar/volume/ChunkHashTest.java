package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.volume.care.ChunkSearch;
import org.opendedup.sar.volume.care.FoundChunk;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.chunks.ChunkWalk;
import org.opendedup.sar.volume.chunks.StoredChunk;
import org.opendedup.sar.volume.config.VolumeConfig;

/** Volumes of chunks whose client makes fingerprints otherwise than by SHA-256, and looking chunks up by them. */
@Timeout(300)
final class ChunkHashTest {
    private static final long CHUNKS = 120;

    @MemoryFolder
    private Path folder;

    private static String hex(byte[] fingerprint) {
        return HexFormat.of().formatHex(fingerprint);
    }

    /** Scrub, reads of copies on the SSD, and healing verify by the same function. */
    @Test
    void damageIsFoundAndHealedFromTheSsd() throws IOException {
        try (ChunkFolder chunks = new ChunkFolder(folder.resolve("volume"), folder.resolve("ssd"), ContentHash.MD5)) {
            chunks.put(0, CHUNKS);
            for (long number = 0; number < CHUNKS; number++) {
                chunks.put(number * 7 % CHUNKS, number * 7 % CHUNKS + 1);
            }
            ChunkFolder.await(() -> chunks.locations.values().stream()
                    .allMatch(location -> chunks.volume.hot().contains(location)));
            chunks.assertWhole();
            chunks.damage();
            assertTrue(chunks.scrub().damagedFrames() > 0);
            long damaged = chunks.damagedChunks();
            assertTrue(damaged > 0);
            ChunkSearch search = chunks.volume.maintenance().chunks();
            assertEquals(
                    damaged,
                    search(chunks, search).filter(FoundChunk::isDamaged).count());
            assertTrue(search(chunks, search).allMatch(FoundChunk::isOnSsd));
            assertTrue(chunks.heal().fromSsd() > 0);
            chunks.assertWhole();
            assertEquals(0, search(chunks, search).filter(FoundChunk::isDamaged).count());
        }
    }

    private static Stream<FoundChunk> search(ChunkFolder chunks, ChunkSearch search) throws IOException {
        Stream.Builder<FoundChunk> found = Stream.builder();
        for (long number : chunks.locations.keySet()) {
            search.find(hex(chunks.fingerprint(number))).chunks().forEach(found);
        }
        return found.build();
    }

    @Test
    void aLostIndexIsMadeAnewAndAWrongFingerprintRefused() throws IOException {
        try (ChunkFolder chunks = new ChunkFolder(folder, null, ContentHash.MD5)) {
            chunks.put(0, CHUNKS);
            chunks.volume.close();
            try (Stream<Path> files = Files.list(chunks.config.locations().hashDb())) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            chunks.open();
            ChunkFolder.await(
                    () -> !chunks.volume.engine().rebuilder().condition().updating());
            for (long number : chunks.locations.keySet()) {
                assertEquals(chunks.locations.get(number), chunks.volume.find(chunks.fingerprint(number)));
            }
            byte[] chunk = ChunkTrial.chunk(CHUNKS);
            IOException e = assertThrows(
                    IOException.class, () -> chunks.volume.put(chunks.fingerprint(0 - 1), chunk, chunk.length, 1, 1));
            assertTrue(e.getMessage().contains("MD5"), e.getMessage());
            ChunkWalk walk = chunks.volume.walk();
            for (StoredChunk stored = walk.next(); stored != null; stored = walk.next()) {
                assertEquals(16, stored.fingerprint().length);
                assertEquals(stored.location(), chunks.volume.find(stored.fingerprint()));
            }
        }
    }

    @Test
    void anotherFunctionThanThatOfTheStoredChunksIsRefusedAtOpening() throws IOException {
        VolumeConfig config;
        try (ChunkFolder chunks = new ChunkFolder(folder, null, ContentHash.MD5)) {
            chunks.put(0, 10);
            config = chunks.config;
        }
        // The containers tell, also if the index cannot be used.
        Path index = config.locations().hashDb();
        try (Stream<Path> files = Files.list(index)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(index);
        Files.createFile(index);
        IOException e = assertThrows(
                IOException.class,
                () -> ChunkVolume.open(config.withHash(ContentHash.SHA_256), Duration.ofHours(1), visitor -> {}));
        assertTrue(e.getMessage().contains("MD5"), e.getMessage());
        // The control: the function with which the chunks were stored.
        ChunkVolume.open(config, Duration.ofHours(1), visitor -> {}).close();
    }

    @Test
    void aChunkIsFoundByItsFingerprintOrTheFirstDigitsWithItsCount() throws IOException {
        try (ChunkFolder chunks = new ChunkFolder(folder, null)) {
            chunks.put(0, CHUNKS);
            chunks.put(3, 5);
            ChunkSearch search = chunks.volume.maintenance().chunks();
            // With -Dsar.encrypted=true: encrypted fingerprints have another order.
            boolean hasOrder = chunks.config.keys() == null;
            for (long number = 0; number < CHUNKS; number++) {
                String all = hex(chunks.fingerprint(number));
                FoundChunk found = search.find(all).chunks().get(0);
                assertEquals(all, found.fingerprint());
                assertEquals(number == 3 || number == 4 ? 2 : 1, found.chunk().getCount());
                assertEquals(ChunkTrial.chunk(number).length, found.chunk().getLength());
                assertEquals(chunks.locations.get(number), found.chunk().getChunkId());
                assertFalse(found.isOnSsd());
                String some = all.substring(0, 15).toUpperCase(java.util.Locale.ROOT);
                if (hasOrder) {
                    assertEquals(new ChunkSearch.Found(List.of(found), false), search.find(some));
                } else {
                    assertThrows(IllegalArgumentException.class, () -> search.find(some));
                }
            }
            if (!hasOrder) {
                return;
            }
            long most = 0;
            for (char digit : "0123456789abcdef".toCharArray()) {
                String first = String.valueOf(digit);
                long stored = chunks.locations.keySet().stream()
                        .filter(number -> hex(chunks.fingerprint(number)).startsWith(first))
                        .count();
                ChunkSearch.Found some = search.find(first);
                assertEquals(stored, some.chunks().size());
                assertTrue(some.chunks().stream()
                        .allMatch(found -> found.fingerprint().startsWith(first)));
                assertFalse(some.areMore());
                most = Math.max(most, stored);
            }
            assertTrue(most <= ChunkSearch.MOST, "the control");
            chunks.put(CHUNKS, 16 * 3 * ChunkSearch.MOST);
            ChunkSearch.Found some = search.find("a");
            assertEquals(ChunkSearch.MOST, some.chunks().size());
            assertTrue(some.areMore());
            assertEquals(new ChunkSearch.Found(List.of(), false), search.find(hex(chunks.fingerprint(-1))));
            for (String wrong : List.of("", "g0", "a".repeat(65))) {
                assertThrows(IllegalArgumentException.class, () -> search.find(wrong), wrong);
            }
            assertArrayEquals(ChunkTrial.chunk(0), chunks.get(0));
        }
    }
}
