package org.opendedup.sar.volume.receive;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.SectorCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.PosixFolder;
import org.opendedup.sar.io.RandomFile;

/**
 * Which local copy each chunk of a stream has, by the sender's id of it. Lies in sparse files, at the place that the id
 * gives: a chunk takes 16 bytes of disk, and no memory. A crash loses it; the stream that goes on then has the chunks
 * again. Those of an encrypted volume are encrypted, with a key that nothing remembers: the first four bytes of the
 * fingerprints of neighbours tell known content, and an entry that somebody changes must not lead to another chunk. For
 * one thread.
 */
final class ReceivedChunks implements Closeable {
    /** Local id (8 bytes), fingerprint prefix, length (4 bytes each): a block of the cipher. */
    private static final int ENTRY_BYTES = SectorCipher.BLOCK_BYTES;

    private static final byte[] HOLE = new byte[ENTRY_BYTES];
    /** Containers of the sender in one file: a file has at most 1 TiB then, nearly all of it holes. */
    private static final int CONTAINER_BITS = 20;

    /**
     * A copy in this volume.
     *
     * @param id its chunk id
     * @param fingerprintPrefix the first four bytes of its fingerprint
     * @param length its bytes
     */
    record Copy(long id, int fingerprintPrefix, int length) {}

    /** Most files, each of which stays open: they have places for 256 million containers. */
    private static final int MOST_FILES = 256;

    private final PosixFolder folder;
    private final Map<Long, RandomFile> files = new HashMap<>();
    private final ByteBuffer entry = ByteBuffer.allocate(ENTRY_BYTES);
    private final @Nullable SectorCipher cipher;

    /**
     * @param folder an empty one, which the caller deletes afterwards
     * @param keys of an encrypted volume; null: it is not encrypted
     */
    ReceivedChunks(Path folder, @Nullable VolumeKeys keys) throws IOException {
        this.folder = PosixFolder.of(folder);
        cipher = keys == null ? null : keys.sectorCipher(Purpose.SCRATCH, VolumeKeys.newContext());
    }

    /** @throws CorruptionException if the ids are further apart than those of a volume */
    void put(long sent, Copy copy) throws IOException {
        entry.clear().putLong(copy.id).putInt(copy.fingerprintPrefix).putInt(copy.length);
        if (cipher != null) {
            cipher.encrypt(0, sent, entry.array(), 0, ENTRY_BYTES);
        }
        file(sent).write(offset(sent), entry.flip());
    }

    /** Returns the copy of a chunk; null if the stream did not have it. */
    @Nullable
    Copy find(long sent) throws IOException {
        int read = file(sent).read(offset(sent), entry.clear());
        if (read < ENTRY_BYTES || Arrays.equals(entry.array(), HOLE)) {
            return null;
        }
        if (cipher != null) {
            cipher.decrypt(0, sent, entry.array(), 0, ENTRY_BYTES);
        }
        entry.flip();
        return new Copy(entry.getLong(), entry.getInt(), entry.getInt());
    }

    private RandomFile file(long sent) throws IOException {
        long number = ChunkId.container(sent) >>> CONTAINER_BITS;
        RandomFile known = files.get(number);
        if (known == null) {
            if (files.size() == MOST_FILES) {
                throw new CorruptionException(
                        "the stream", -1, "ids of chunks that a volume gives", ChunkId.toString(sent));
            }
            known = folder.create(Path.of("chunks-" + number));
            files.put(number, known);
        }
        return known;
    }

    private static long offset(long sent) {
        return (sent & (1L << CONTAINER_BITS + ChunkId.SLOT_BITS) - 1) * ENTRY_BYTES;
    }

    @Override
    public void close() {
        files.values().forEach(RandomFile::close);
        folder.close();
    }
}
