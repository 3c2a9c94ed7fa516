package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.sdfs.restore.TreeEntry;
import org.opendedup.sar.volume.raw.FastTier;

/** Migrates raw files, and what was changed in files since they were migrated. */
final class TierMigration extends TreeJob {
    private static final String MIGRATED = "migratedFiles";
    private static final String MIGRATED_BYTES = "migratedBytes";
    private static final String IN_CHUNKS = "inChunksFiles";
    private static final String BUSY = "inUseFiles";
    private static final String BUSY_NAMES = "inUse";
    private static final String LOST = "lostFiles";

    /** Files that are migrated between two commits, and bytes of them. */
    private static final int BATCH_FILES = 1024;

    private static final long BATCH_BYTES = 1L << 30;
    private static final int PAUSE_MILLIS = 1000;

    private final FastTier tier;
    private final boolean waits;
    private boolean isFirst = true;
    private int batchFiles;
    private long batchBytes;

    /** @param waits whether to try files in use again until they are at rest */
    TierMigration(ServedPaths paths, String path, boolean waits) {
        super(paths, path, "migrated files", MIGRATED, List.of(MIGRATED, MIGRATED_BYTES, IN_CHUNKS, BUSY, LOST));
        tier = volume().fastTier();
        this.waits = waits;
    }

    @Override
    void work(Progress progress) throws IOException {
        FastTier.Summary summary = tier.summary();
        if (summary.absent() != null && summary.hasFiles()) {
            throw new IOException("the fast tier cannot be used: " + summary.absent());
        }
        try {
            round(progress);
            while (waits && count(BUSY) > 0) {
                pause(progress);
                round(progress);
            }
        } finally {
            volume().commit();
        }
    }

    private void round(Progress progress) throws IOException {
        reset(BUSY, BUSY_NAMES);
        walk(progress);
        isFirst = false;
    }

    private void pause(Progress progress) throws InterruptedIOException {
        progress.at("waiting for files in use", count(BUSY), 0);
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("stopped");
        }
    }

    @Override
    void visit(TreeEntry entry, ShownPath at, Progress progress) throws IOException {
        if (entry.isDirectory()) {
            return;
        }
        FastTier.FileStatus file = tier.explain(entry.inode());
        if (file.place() == FastTier.Place.CHUNKS && file.changedBytes() == 0) {
            add(IN_CHUNKS, isFirst ? 1 : 0);
        } else if (file.place() == FastTier.Place.LOST) {
            add(LOST, isFirst ? 1 : 0);
        } else {
            boolean isPart = file.place() == FastTier.Place.CHUNKS;
            migrate(entry.inode(), at, isPart ? file.changedBytes() : file.bytes(), progress);
        }
    }

    private void migrate(long inode, ShownPath at, long bytes, Progress progress) throws IOException {
        try {
            if (!tier.migrate(inode, read -> checkStopped(progress))) {
                add(IN_CHUNKS, 1);
                return;
            }
        } catch (PosixException e) {
            if (e.reason() != Reason.EBUSY) {
                throw e;
            }
            add(BUSY, 1);
            name(BUSY_NAMES, at.toString());
            return;
        }
        add(MIGRATED, 1);
        add(MIGRATED_BYTES, bytes);
        batchBytes += bytes;
        if (++batchFiles >= BATCH_FILES || batchBytes >= BATCH_BYTES) {
            volume().commit();
            batchFiles = 0;
            batchBytes = 0;
        }
    }
}
