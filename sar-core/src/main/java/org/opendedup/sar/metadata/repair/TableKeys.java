package org.opendedup.sar.metadata.repair;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.db.TableSeparators;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIteratorInterface;
import org.rocksdb.SstFileReader;
import org.rocksdb.SstFileReaderIterator;

/**
 * The keys of the tables of one family as far as they can be read, in order, each once. Reads on behind damaged blocks.
 * Memory is bounded but for a key for each block of the tables, and the tops of their indexes.
 */
final class TableKeys implements Closeable {
    private static final Comparator<byte[]> ORDER = Arrays::compareUnsigned;

    private final List<byte[]> separators;
    private final List<Table> tables = new ArrayList<>();

    /** @param folder the folder of the tables */
    TableKeys(Path folder, List<LiveFileMetaData> files) throws IOException {
        TreeSet<byte[]> all = new TreeSet<>(ORDER);
        for (LiveFileMetaData file : files) {
            Path path = folder.resolve(file.fileName().replaceFirst("^/+", ""));
            if (Files.exists(path)) {
                all.addAll(TableSeparators.of(path));
            }
            tables.add(new Table(path, file.smallestKey(), file.largestKey()));
        }
        separators = List.copyOf(all);
    }

    /**
     * Returns the keys from which to go on behind a damaged block: each is the first one that a block after
     * {@code last} may have.
     */
    List<byte[]> behind(byte[] last) {
        int at = Collections.binarySearch(separators, last, ORDER);
        return separators.subList(at < 0 ? -at - 1 : at, separators.size());
    }

    /** Receives what lies between two keys; see {@link #forEachBetween}. */
    interface Visitor {
        /** A key, in ascending order. */
        void key(byte[] key) throws IOException;

        /** Two keys between which a table may have keys that cannot be read, in no order. */
        void gap(byte[] after, byte[] before);
    }

    /** Visits the keys between two others. */
    void forEachBetween(byte[] after, byte[] before, Visitor visitor) throws IOException {
        PriorityQueue<Table> next = new PriorityQueue<>((one, other) -> Arrays.compareUnsigned(one.key, other.key));
        for (Table table : tables) {
            if (table.seek(after, before, visitor)) {
                next.add(table);
            }
        }
        byte[] last = after;
        for (Table table = next.poll(); table != null; table = next.poll()) {
            if (!Arrays.equals(table.key, last)) {
                last = table.key;
                visitor.key(last);
            }
            if (table.next(before, visitor)) {
                next.add(table);
            }
        }
    }

    /** Returns whether an iterator that is at no record is at the end, and not at a damaged block. */
    static boolean isSound(RocksIteratorInterface records) {
        try {
            records.status();
            return true;
        } catch (RocksDBException e) {
            return false;
        }
    }

    /** Returns the lowest key that is higher. */
    static byte[] following(byte[] key) {
        return Arrays.copyOf(key, key.length + 1);
    }

    @Override
    public void close() {
        tables.forEach(Table::close);
    }

    private final class Table implements Closeable {
        private final byte[] smallest;
        private final byte[] largest;
        private final Options options = new Options();
        private final ReadOptions reading = new ReadOptions().setFillCache(false);
        private final SstFileReader reader = new SstFileReader(options);
        /** Null if the table cannot be opened. */
        private final @Nullable SstFileReaderIterator records;

        private byte[] key = {};

        Table(Path file, byte[] smallest, byte[] largest) {
            this.smallest = smallest;
            this.largest = largest;
            records = open(file);
        }

        private @Nullable SstFileReaderIterator open(Path file) {
            try {
                reader.open(file.toString());
                return reader.newIterator(reading);
            } catch (RocksDBException e) {
                return null;
            }
        }

        /** Moves to the first key after another one; returns false if there is none before {@code before}. */
        boolean seek(byte[] after, byte[] before, Visitor visitor) {
            if (Arrays.compareUnsigned(largest, after) <= 0 || Arrays.compareUnsigned(before, smallest) <= 0) {
                return false;
            }
            key = Arrays.compareUnsigned(after, smallest) < 0 ? LostRecords.preceding(smallest) : after;
            if (records == null) {
                visitor.gap(key, lower(following(largest), before));
                return false;
            }
            records.seek(following(key));
            return arrive(before, visitor);
        }

        boolean next(byte[] before, Visitor visitor) {
            Objects.requireNonNull(records).next();
            return arrive(before, visitor);
        }

        /** Goes on behind damaged blocks. */
        private boolean arrive(byte[] before, Visitor visitor) {
            SstFileReaderIterator at = Objects.requireNonNull(records);
            if (!at.isValid() && !isSound(at)) {
                for (byte[] separator : behind(key)) {
                    at.seek(following(separator));
                    if (at.isValid() || isSound(at) || Arrays.compareUnsigned(separator, before) >= 0) {
                        break;
                    }
                }
                byte[] end = at.isValid() ? at.key() : following(largest);
                visitor.gap(key, lower(end, before));
            }
            if (!at.isValid()) {
                return false;
            }
            key = at.key();
            return Arrays.compareUnsigned(key, before) < 0;
        }

        private static byte[] lower(byte[] one, byte[] other) {
            return Arrays.compareUnsigned(one, other) < 0 ? one : other;
        }

        @Override
        public void close() {
            if (records != null) {
                records.close();
            }
            reader.close();
            reading.close();
            options.close();
        }
    }
}
