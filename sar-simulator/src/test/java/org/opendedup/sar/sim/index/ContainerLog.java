package org.opendedup.sar.sim.index;

import com.carrotsearch.hppc.LongArrayList;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.opendedup.sar.common.Fingerprints;

/**
 * The fingerprints of each container in the order of the containers, so that one read returns those of one container:
 * the auxiliary log that the ChunkStash paper adds to BerkeleyDB (section 4.3). A record is the number of entries (4
 * bytes), and 40 bytes for each: fingerprint and place. Not thread-safe.
 */
final class ContainerLog implements Closeable {
    static final int ENTRY_BYTES = Fingerprints.BYTES + Long.BYTES;

    private final FileChannel file;
    /** Where the record of container {@code i + 1} begins. */
    private final LongArrayList offsets = new LongArrayList();

    private long end;

    /** Opens a log, or makes one. */
    ContainerLog(Path path) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        ByteBuffer count = ByteBuffer.allocate(Integer.BYTES);
        while (end < file.size()) {
            read(count.clear(), end);
            offsets.add(end);
            end += Integer.BYTES + (long) count.getInt(0) * ENTRY_BYTES;
        }
    }

    /** Returns the number of containers. */
    int containers() {
        return offsets.size();
    }

    /**
     * Appends the entries of the next container.
     *
     * @param entries {@value #ENTRY_BYTES} bytes each
     */
    void append(byte[] entries, int count) throws IOException {
        ByteBuffer record = ByteBuffer.allocate(Integer.BYTES + count * ENTRY_BYTES);
        record.putInt(count).put(entries, 0, count * ENTRY_BYTES).flip();
        offsets.add(end);
        while (record.hasRemaining()) {
            end += file.write(record, end);
        }
    }

    /** Returns the entries of a container, from 1 on. */
    ByteBuffer read(int container) throws IOException {
        long begin = offsets.get(container - 1);
        long next = container == offsets.size() ? end : offsets.get(container);
        ByteBuffer record = ByteBuffer.allocate((int) (next - begin));
        read(record, begin);
        return record.position(Integer.BYTES).slice();
    }

    private void read(ByteBuffer target, long offset) throws IOException {
        while (target.hasRemaining()) {
            if (file.read(target, offset + target.position()) < 0) {
                throw new EOFException("the log of containers ends within a record");
            }
        }
        target.flip();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
