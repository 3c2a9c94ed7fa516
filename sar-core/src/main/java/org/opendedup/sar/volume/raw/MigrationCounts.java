package org.opendedup.sar.volume.raw;

import java.util.concurrent.atomic.AtomicLong;

/** What was stored in chunks and migrated since the volume was mounted. Safe for use by many threads. */
final class MigrationCounts {
    private final AtomicLong copiedFiles = new AtomicLong();
    private final AtomicLong copiedBytes = new AtomicLong();
    private final AtomicLong aheadFiles = new AtomicLong();
    private final AtomicLong aheadBytes = new AtomicLong();
    private final AtomicLong migratedFiles = new AtomicLong();
    private final AtomicLong migratedBytes = new AtomicLong();

    /** Records that a file of the given length, in bytes, was stored in chunks. */
    void noteCopied(long bytes) {
        copiedFiles.incrementAndGet();
        copiedBytes.addAndGet(bytes);
    }

    /** Records the same of a file that was copied before its migration was needed. */
    void noteAhead(long bytes) {
        noteCopied(bytes);
        aheadFiles.incrementAndGet();
        aheadBytes.addAndGet(bytes);
    }

    /** Records that a file of the given length, in bytes, was migrated. */
    void noteMigrated(long bytes) {
        migratedFiles.incrementAndGet();
        migratedBytes.addAndGet(bytes);
    }

    long copiedFiles() {
        return copiedFiles.get();
    }

    long copiedBytes() {
        return copiedBytes.get();
    }

    long aheadFiles() {
        return aheadFiles.get();
    }

    long aheadBytes() {
        return aheadBytes.get();
    }

    long migratedFiles() {
        return migratedFiles.get();
    }

    long migratedBytes() {
        return migratedBytes.get();
    }
}
