package org.opendedup.sar.cluster;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import org.opendedup.sar.common.ArrayInputStream;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;

/** Reads an archive. For one thread. Memory: 200 bytes a block. */
public final class ArchiveReader {
    private static final int COPY_BYTES = 256 << 10;

    private final ObjectStore store;
    private final String name;
    private final ObjectStatus status;
    private final ArchiveHeader header;
    private final List<BlockRef> blocks = new ArrayList<>();
    private final BlockInput bytes;

    /**
     * Opens a copy of an archive's object, and compares all of it with its checksum.
     *
     * @param name name of the object
     * @throws java.nio.file.NoSuchFileException if the store has none
     */
    ArchiveReader(Volumes volumes, ObjectStore store, String name) throws IOException {
        this.store = store;
        this.name = name;
        status = store.status(name);
        header = header(store, name);
        CRC32C crc = new CRC32C();
        crc.update(header.encode());
        try (CheckedInputStream in = new CheckedInputStream(records(), crc)) {
            read(in, entry -> {}, blocks::add);
        }
        if ((int) crc.getValue() != status.crc32c()) {
            throw new CorruptionException(store + "/" + name, -1, "bytes of its checksum", "others");
        }
        bytes = new BlockInput(volumes, blocks);
    }

    static ArchiveHeader header(ObjectStore store, String name) throws IOException {
        byte[] encoded = new byte[ArchiveHeader.BYTES];
        store.read(name, 0, ByteBuffer.wrap(encoded));
        return ArchiveHeader.decode(store + "/" + name, encoded);
    }

    /** Returns the number of its files. */
    public long files() {
        return header.files();
    }

    /** Returns the blocks that it needs. */
    List<BlockRef> blocks() {
        return blocks;
    }

    /** Returns the archive's object, for another copy. */
    ObjectSource source() {
        return new ObjectSource(status.length(), status.crc32c(), status.token(), offset -> {
            InputStream all = new SequenceInputStream(new ByteArrayInputStream(header.encode()), records());
            all.skipNBytes(offset);
            return all;
        });
    }

    /** Receives what an archive has. */
    @FunctionalInterface
    public interface EntryVisitor {
        void visit(ArchiveEntry entry) throws IOException;
    }

    /** Visits the entries in their order: a folder before what it contains. */
    public void forEach(EntryVisitor visitor) throws IOException {
        try (InputStream in = records()) {
            read(in, visitor, block -> {});
        }
    }

    private InputStream records() {
        return new BufferedInputStream(new ObjectInput(), COPY_BYTES);
    }

    /** Reads records to their end. */
    static void read(InputStream records, EntryVisitor entries, ClusterNode.BlockVisitor blocks) throws IOException {
        DataInputStream in = new DataInputStream(records);
        byte[] encoded = new byte[BlockRef.BYTES];
        for (int kind = in.read(); kind >= 0; kind = in.read()) {
            if (kind == ArchiveEntry.BLOCK) {
                in.readFully(encoded);
                blocks.visit(BlockRef.decode(ByteBuffer.wrap(encoded)));
            } else {
                entries.visit(ArchiveEntry.decode(kind, in));
            }
        }
    }

    /** The bytes of the object behind its header. */
    private final class ObjectInput extends ArrayInputStream {
        private long position = ArchiveHeader.BYTES;

        @Override
        public int read(byte[] target, int offset, int count) throws IOException {
            int some = (int) Math.min(count, status.length() - position);
            if (some <= 0) {
                return count == 0 ? 0 : -1;
            }
            store.read(name, position, ByteBuffer.wrap(target, offset, some));
            position += some;
            return some;
        }
    }

    /**
     * Writes the bytes of a file.
     *
     * @throws UnreadableBlockException if a block cannot be read; nothing but the file's own bytes was written then
     */
    public void copy(ArchiveEntry file, OutputStream target) throws IOException {
        bytes.seek(file.offset(), file.bytes());
        byte[] some = new byte[COPY_BYTES];
        for (long left = file.bytes(); left > 0; ) {
            int read = bytes.read(some, 0, (int) Math.min(some.length, left));
            if (read < 0) {
                throw new EOFException(file.path() + " ends " + left + " bytes early");
            }
            target.write(some, 0, read);
            left -= read;
        }
    }
}
