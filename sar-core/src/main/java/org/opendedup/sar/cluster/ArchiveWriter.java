package org.opendedup.sar.cluster;

import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Future;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.objects.ObjectSource;

/**
 * Writes an archive. Its blocks are stored as they come, several at the same time; with {@link #finish} it can be seen.
 * After a failure or a crash before that, its blocks stay, so that another try sends what is missing. For one thread.
 */
public final class ArchiveWriter implements Closeable {
    private final Volumes volumes;
    private final Archives archives;
    private final String archive;
    private final Notes.Use use;
    private final BlockCutter data;
    private final Queue<Future<Stored>> storing = new ArrayDeque<>();
    /** The records, until their number is known. */
    private final Spool records;

    private long offset;
    private long files;
    private long newBytes;

    private record Stored(BlockRef block, boolean isNew) {}

    /**
     * What became of an archive.
     *
     * @param files number of files
     * @param bytes length of all files, in bytes
     * @param newBytes length of the blocks that no volume had, in bytes; the volumes find duplicates within them
     */
    public record Report(long files, long bytes, long newBytes) {}

    ArchiveWriter(Volumes volumes, Archives archives, Notes notes, BlockShape shape, String archive)
            throws IOException {
        this.volumes = volumes;
        this.archives = archives;
        this.archive = archive;
        Archives.objectOf(archive);
        if (archives.names().contains(archive)) {
            throw archives.nameTaken(archive);
        }
        use = notes.use("put " + archive, Notes.Kind.PUT);
        data = new BlockCutter(shape, volumes.lanes(), Runtime.getRuntime().availableProcessors() - 1, this::block);
        records = new Spool();
    }

    private void block(int shard, byte[] bytes) throws IOException {
        if (storing.size() == Volumes.LANES) {
            settle();
        }
        storing.add(store(shard, bytes));
    }

    private Future<Stored> store(int shard, byte[] bytes) {
        return volumes.lanes().submit(() -> {
            BlockRef block = BlockRef.of(shard, bytes);
            return new Stored(block, volumes.store(block, bytes));
        });
    }

    /** Waits for the oldest block, and lists it. */
    private void settle() throws IOException {
        Stored stored = BlockInput.result(storing.remove());
        newBytes += stored.isNew ? stored.block.length() : 0;
        ByteBuffer record = ByteBuffer.allocate(1 + BlockRef.BYTES).put((byte) ArchiveEntry.BLOCK);
        stored.block.encode(record);
        records.write(record.array());
    }

    /** Adds a folder or a link; a folder comes before what it contains. */
    public void add(ArchiveEntry entry) throws IOException {
        records.write(entry.encode());
    }

    /**
     * Adds a file.
     *
     * @param entry what is known of it; offset and length are found here
     * @param in its bytes, to their end
     */
    public void addFile(ArchiveEntry entry, InputStream in) throws IOException {
        long bytes = data.add(in);
        add(new ArchiveEntry(
                ArchiveEntry.Kind.FILE,
                entry.path(),
                entry.mode(),
                entry.uid(),
                entry.gid(),
                entry.seconds(),
                entry.nanos(),
                offset,
                bytes,
                ""));
        offset += bytes;
        files++;
    }

    /** Returns the bytes of files that were added. */
    public long bytes() {
        return offset;
    }

    /** Waits until all blocks are durable; then the archive is there. */
    public Report finish() throws IOException {
        data.finish();
        while (!storing.isEmpty()) {
            settle();
        }
        records.end();
        byte[] header = new ArchiveHeader(System.currentTimeMillis(), files, offset, newBytes).encode();
        use.requireNoted();
        archives.publish(archive, source(header));
        try {
            // What is found now was there all the time: no block was deleted before the archive could be seen.
            use.requireNoted();
        } catch (IOException e) {
            Closing.after(e, () -> archives.delete(archive));
            throw e;
        }
        return new Report(files, offset, newBytes);
    }

    private ObjectSource source(byte[] header) throws IOException {
        ObjectSource.Opening opening = offset -> {
            InputStream all = new SequenceInputStream(new ByteArrayInputStream(header), records.read());
            all.skipNBytes(offset);
            return all;
        };
        CRC32C crc = new CRC32C();
        try (CheckedInputStream in = new CheckedInputStream(opening.open(0), crc)) {
            long length = in.transferTo(OutputStream.nullOutputStream());
            return ObjectSource.of(length, (int) crc.getValue(), opening);
        }
    }

    @Override
    public void close() throws IOException {
        storing.forEach(task -> task.cancel(false));
        try (Notes.Use noted = use) {
            records.close();
        }
    }
}
