package org.opendedup.sar.index.silo;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.rocksdb.IndexDatabase;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * What a SiLo index keeps beside its block files, in a small RocksDB database (docs/FORMAT.md, "Hash database"). All
 * numbers are big-endian:
 *
 * <pre>
 * 'B' container (8) block (4)   1 if the block has chunks of the container that were new, 0 if it has others only
 * 'C' container (8)             the frame table of a covered container
 * 'E'                           the epoch: volume (16), number (8), token (8)
 * 'H'                           the highest container (8)
 * 'N'                           number of the last block (4), number of chunks (8), random number of the index (8)
 * 'R' representative (8)        the block (4) of the segment
 * 'T' container (8)             removed slots, see {@link Removals}
 * 'V'                           the format version (1)
 * </pre>
 *
 * After a crash the records are those of some earlier moment (see {@link IndexDatabase}): each change is one batch, and
 * is written when the block that it names is durable.
 */
final class SiloRecords implements Closeable {
    /** Different from that of any other index in RocksDB. */
    static final byte FORMAT_VERSION = 'S';

    private static final byte[] EPOCH = {'E'};
    private static final byte[] HIGHEST = {'H'};
    private static final byte[] STATE = {'N'};

    private final IndexDatabase database;

    private SiloRecords(IndexDatabase database) {
        this.database = database;
    }

    static SiloRecords open(Path folder, long memoryBytes) throws IOException {
        return new SiloRecords(IndexDatabase.open(folder, memoryBytes, FORMAT_VERSION));
    }

    /**
     * @param lastBlock number of the last block that is durable; 0 if there is none
     * @param chunks approximate number of chunks
     * @param index random number that the block files have, too
     */
    record State(int lastBlock, long chunks, long index) {}

    /** Returns null for a new index. */
    @Nullable
    State state() throws IOException {
        byte[] record = database.get(STATE);
        if (record == null || record.length != Integer.BYTES + 2 * Long.BYTES) {
            return null;
        }
        ByteBuffer in = ByteBuffer.wrap(record);
        return new State(in.getInt(), in.getLong(), in.getLong());
    }

    long highestContainer() throws IOException {
        byte[] record = database.get(HIGHEST);
        return record == null || record.length != Long.BYTES
                ? 0
                : ByteBuffer.wrap(record).getLong();
    }

    byte @Nullable [] frameTable(long container) throws IOException {
        return database.get(key('C', container));
    }

    byte @Nullable [] removals(long container) throws IOException {
        return database.get(key('T', container));
    }

    /** Receives an entry of the similarity table. */
    interface RepresentativeVisitor {
        void visit(long key, int block);
    }

    void forEachRepresentative(RepresentativeVisitor visitor) throws IOException {
        database.forEach(
                new byte[] {'R'},
                (key, value) -> visitor.visit(
                        ByteBuffer.wrap(key).getLong(1), ByteBuffer.wrap(value).getInt()));
    }

    /** Receives a container that has chunks in a block. */
    interface ContainerVisitor {
        /** @param fresh whether the chunks were new; the container's others may be in other blocks */
        void visit(long container, int block, boolean fresh);
    }

    /** Visits the blocks of all containers. */
    void forEachBlock(ContainerVisitor visitor) throws IOException {
        forEachBlock(new byte[] {'B'}, visitor);
    }

    /** Visits the blocks of a container, in ascending order. */
    void forEachBlock(long container, ContainerVisitor visitor) throws IOException {
        forEachBlock(key('B', container), visitor);
    }

    private void forEachBlock(byte[] prefix, ContainerVisitor visitor) throws IOException {
        database.forEach(prefix, (key, value) -> {
            ByteBuffer in = ByteBuffer.wrap(key);
            visitor.visit(in.getLong(1), in.getInt(1 + Long.BYTES), value.length == 1 && value[0] == 1);
        });
    }

    @Nullable
    Epoch epoch() throws IOException {
        return Epoch.ofRecord(database.get(EPOCH));
    }

    void flush() throws IOException {
        database.flush();
    }

    void clear() throws IOException {
        database.clear();
    }

    /** Flushes and closes. Idempotent. */
    @Override
    public void close() throws IOException {
        database.close();
    }

    private static byte[] key(char kind, long number) {
        return ByteBuffer.allocate(1 + Long.BYTES)
                .put((byte) kind)
                .putLong(number)
                .array();
    }

    private static byte[] blockKey(long container, int block) {
        return ByteBuffer.allocate(1 + Long.BYTES + Integer.BYTES)
                .put((byte) 'B')
                .putLong(container)
                .putInt(block)
                .array();
    }

    private static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    Change change() {
        return new Change();
    }

    /** Several records that change together: after a crash, all of them have changed or none. */
    final class Change implements AutoCloseable {
        private final WriteBatch batch = new WriteBatch();

        Change state(State state) throws IOException {
            return put(
                    STATE,
                    ByteBuffer.allocate(Integer.BYTES + 2 * Long.BYTES)
                            .putInt(state.lastBlock)
                            .putLong(state.chunks)
                            .putLong(state.index)
                            .array());
        }

        Change highest(long container) throws IOException {
            return put(HIGHEST, bytes(container));
        }

        Change cover(long container, byte[] frameTable) throws IOException {
            return put(key('C', container), frameTable);
        }

        Change uncover(long container) throws IOException {
            return delete(key('C', container));
        }

        Change representative(long key, int block) throws IOException {
            return put(
                    key('R', key),
                    ByteBuffer.allocate(Integer.BYTES).putInt(block).array());
        }

        Change forgetRepresentative(long key) throws IOException {
            return delete(key('R', key));
        }

        Change block(long container, int block, boolean fresh) throws IOException {
            return put(blockKey(container, block), new byte[] {(byte) (fresh ? 1 : 0)});
        }

        Change forgetBlock(long container, int block) throws IOException {
            return delete(blockKey(container, block));
        }

        Change removals(long container, Removals removals) throws IOException {
            return removals.isEmpty() ? delete(key('T', container)) : put(key('T', container), removals.toRecord());
        }

        Change epoch(Epoch epoch) throws IOException {
            return put(EPOCH, epoch.toRecord());
        }

        private Change put(byte[] key, byte[] value) throws IOException {
            try {
                batch.put(key, value);
                return this;
            } catch (RocksDBException e) {
                throw new IOException("cannot add to a RocksDB batch", e);
            }
        }

        private Change delete(byte[] key) throws IOException {
            try {
                batch.delete(key);
                return this;
            } catch (RocksDBException e) {
                throw new IOException("cannot add to a RocksDB batch", e);
            }
        }

        void write() throws IOException {
            database.write(batch);
        }

        @Override
        public void close() {
            batch.close();
        }
    }
}
