package org.opendedup.sar.sim.tddfs.design;

/** A file system on two tiers. Files are numbered from 0. For one thread. */
public interface Design {
    /** Writes a file as a whole. An existing one is replaced. */
    void create(int file, long bytes);

    /** Reads a range within a file. */
    void read(int file, long offset, long length);

    /** Writes a range that begins within a file or at its end. The file grows to the end of the range. */
    void write(int file, long offset, long length);

    /** Deletes a file. */
    void delete(int file);

    /** Returns the bytes in use on the fast tier. */
    long fastBytes();

    /** Returns the bytes in use on the slow tier. */
    long slowBytes();
}
