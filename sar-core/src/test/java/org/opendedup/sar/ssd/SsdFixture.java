package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;

/** Stores at one location, chunks with known bytes, and the reports of the stores. */
final class SsdFixture {
    static final UUID VOLUME = new UUID(0x0123456789abcdefL, 0x0fedcba987654321L);
    static final Timeline TIMELINE = Timeline.beginning(VOLUME, 0x1122334455667788L);
    static final VolumeKeys KEYS = new VolumeKeys(new byte[VolumeKeys.KEY_BYTES], VOLUME, AeadCipher.AES_256_GCM);
    static final long CAPACITY = 64 << 20;
    static final Cause CAUSE = Cause.RECIPE;

    final Path location;
    final List<IOException> failures = new CopyOnWriteArrayList<>();
    Runnable makeRoom = () -> {};
    long capacity = CAPACITY;
    int maxEntries = 1_000_000;
    long offerBytes;
    final Map<OfferFate, AtomicInteger> fates = new ConcurrentHashMap<>();
    Timeline timeline = TIMELINE;

    @Nullable
    VolumeKeys keys;

    SsdFixture(Path location) {
        this.location = location;
    }

    SsdStore open() throws IOException {
        return heard(SsdStore.open(
                location,
                ContentHash.SHA_256,
                keys,
                timeline,
                capacity,
                memory(),
                () -> makeRoom.run(),
                failures::add));
    }

    SsdStore open(Directory segments) throws IOException {
        SsdIdentity.claim(location, VOLUME);
        RecordFormat format = new RecordFormat(ContentHash.SHA_256, keys);
        return heard(SsdStore.open(
                location, segments, format, timeline, capacity, memory(), () -> makeRoom.run(), failures::add));
    }

    /** A store that writes only while this is open. */
    SsdStore open(Gate writes) throws IOException {
        return heard(StoreDouble.gated(writes, new Gate(), keys)
                .open(location, timeline, capacity, memory(), () -> makeRoom.run(), failures::add));
    }

    private SsdStore heard(SsdStore store) {
        store.listen((fate, tag, length) ->
                fates.computeIfAbsent(fate, f -> new AtomicInteger()).incrementAndGet());
        return store;
    }

    /** Number of chunks with that final result so far. */
    int fate(OfferFate fate) {
        AtomicInteger count = fates.get(fate);
        return count == null ? 0 : count.get();
    }

    private StoreMemory memory() {
        return new StoreMemory(maxEntries, offerBytes);
    }

    /** Bytes of a chunk, the same for the same id; they compress to about three quarters. */
    static byte[] chunk(long chunkId) {
        Random random = new Random(chunkId * 31 + 7);
        byte[] bytes = new byte[1000 + random.nextInt(7000)];
        random.nextBytes(bytes);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] &= 0x3f;
        }
        return bytes;
    }

    static int fingerprintPrefix(byte[] chunk) {
        try {
            return Fingerprints.fingerprintPrefix(
                    MessageDigest.getInstance("SHA-256").digest(chunk), 0);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    static OfferAnswer offer(SsdStore store, long chunkId) {
        byte[] bytes = chunk(chunkId);
        byte[] around = new byte[bytes.length + 20];
        System.arraycopy(bytes, 0, around, 10, bytes.length);
        OfferAnswer answer = store.offer(
                chunkId, fingerprintPrefix(bytes), (int) chunkId % 100, 77, CAUSE, around, 10, bytes.length);
        // The bytes are the store's own by now.
        Arrays.fill(around, (byte) 1);
        return answer;
    }

    /** Offers all, waits while the queue is full, and until all are written. */
    static void promote(SsdStore store, long from, long to) throws IOException {
        for (long id = from; id < to; id++) {
            if (offer(store, id) == OfferAnswer.QUEUE_FULL) {
                store.drain();
                assertEquals(OfferAnswer.TAKEN, offer(store, id));
            }
        }
        store.drain();
    }

    /** Wants half of each of some chunks from the SSD. */
    static ChunkRequest request(long... chunkIds) {
        ChunkRequest request = new ChunkRequest();
        for (long id : chunkIds) {
            byte[] bytes = chunk(id);
            request.add(id, bytes.length / 2, fingerprintPrefix(bytes), -1);
            request.setSource(request.count() - 1, Source.SSD);
        }
        return request;
    }

    /** Returns all bytes of a chunk that was read; null if it must be read from home. */
    static byte @Nullable [] found(ChunkRequest request, int i) {
        byte[] data = request.isFromSsd(i) ? request.data(i) : null;
        return data == null ? null : Arrays.copyOfRange(data, request.offset(i), request.offset(i) + request.length(i));
    }

    /** Reads chunks; bytes from the SSD must be right. Returns the number of chunks from the SSD. */
    static int read(SsdStore store, long... chunkIds) {
        ChunkRequest request = request(chunkIds);
        store.read(request);
        int found = 0;
        for (int i = 0; i < request.count(); i++) {
            byte[] bytes = found(request, i);
            if (bytes != null) {
                assertArrayEquals(chunk(request.chunkId(i)), bytes);
                found++;
            }
        }
        return found;
    }

    static long[] range(long from, long to) {
        long[] ids = new long[(int) (to - from)];
        Arrays.setAll(ids, i -> from + i);
        return ids;
    }

    /** Chunk, place, length, count and saving of every entry. */
    static TreeMap<Long, String> entries(SsdStore store) {
        TreeMap<Long, String> entries = new TreeMap<>();
        store.table()
                .forEach(e -> entries.put(
                        e.chunkId, e.segment + ":" + e.offset + "+" + e.length + " " + e.count + "*" + e.saving));
        return entries;
    }

    List<Path> segments() throws IOException {
        try (Stream<Path> files = Files.list(location.resolve("segments"))) {
            return files.sorted().toList();
        }
    }

    /** Bytes of all files. */
    long bytesOnDisk() throws IOException {
        long bytes = 0;
        try (Stream<Path> files = Files.walk(location)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                try {
                    bytes += Files.isRegularFile(file) ? Files.size(file) : 0;
                } catch (java.nio.file.NoSuchFileException e) {
                    continue;
                }
            }
        } catch (java.io.UncheckedIOException e) {
            // The database deleted a file meanwhile.
            return bytesOnDisk();
        }
        return bytes;
    }
}
