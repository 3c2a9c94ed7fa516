package org.opendedup.sar.index;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** The kinds of fingerprint index that a volume can have; see docs/INDEXES.md. */
public enum IndexClass {
    /** Exact, in a RocksDB database. */
    ROCKSDB("rocksdb"),
    /** A log on an SSD with a table in memory; exact as long as the table has room. */
    CHUNKSTASH("chunkstash"),
    /** Blocks of neighbours on the disk, found by the lowest fingerprint of a segment; finds nearly all duplicates. */
    SILO("silo");

    /**
     * Maximum number of open files of an index, such as tables of 64 MiB: 32 GiB, about 400 million chunks. A database
     * reopens others as needed.
     */
    public static final int MOST_OPEN_FILES = 512;

    private final String label;

    IndexClass(String label) {
        this.label = label;
    }

    /** Returns the name in options and in the volume's file. */
    public String label() {
        return label;
    }

    public static Optional<IndexClass> of(String label) {
        return Arrays.stream(values()).filter(each -> each.label.equals(label)).findFirst();
    }

    /** Returns all names, for messages. */
    public static String labels() {
        return Arrays.stream(values()).map(IndexClass::label).collect(Collectors.joining(", "));
    }
}
