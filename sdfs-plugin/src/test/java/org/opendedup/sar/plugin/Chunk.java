package org.opendedup.sar.plugin;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.SplittableRandom;
import org.opendedup.collections.InsertRecord;
import org.opendedup.sdfs.filestore.ChunkData;

/** Chunks as SDFS cuts them: one for each number. */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Chunk(byte[] bytes, byte[] hash) {
    private static final int PAGE_BYTES = 256 << 10;

    /** Names the file whose map has the chunks. */
    static final String FILE = "aa-file";

    static Chunk of(long number) {
        SplittableRandom random = new SplittableRandom(number);
        byte[] bytes = new byte[4096 + random.nextInt(28 << 10)];
        random.nextBytes(bytes);
        return of(bytes, "SHA-256");
    }

    static Chunk of(byte[] bytes, String algorithm) {
        try {
            return new Chunk(bytes, MessageDigest.getInstance(algorithm).digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the chunk as the write path brings it: SDFS gives the size of its pages as the length. */
    ChunkData data(long references, String uuid) {
        ChunkData data = new ChunkData(hash, Math.max(PAGE_BYTES, bytes.length), bytes, uuid);
        data.references = references;
        return data;
    }

    /**
     * Puts the first {@code count} chunks, each with a reference by a file whose map is in the host's folder, and
     * syncs. Returns their locations.
     */
    static long[] put(int count, PluginEngine engine, Path folder) throws IOException {
        long[] locations = new long[count];
        long[] location = new long[1];
        for (int number = 0; number < count; number++) {
            Chunk chunk = of(number);
            engine.put(chunk.hash, chunk.bytes, chunk.bytes.length, 1, 1, location);
            locations[number] = location[0];
            HostMaps.write(folder, FILE, number, List.of(new HostMaps.Entry(chunk.hash, location[0])));
        }
        engine.sync();
        return locations;
    }

    static long location(InsertRecord record) {
        return ByteBuffer.wrap(record.getHashLocs()).getLong();
    }
}
