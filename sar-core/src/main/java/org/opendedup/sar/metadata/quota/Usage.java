package org.opendedup.sar.metadata.quota;

import java.time.InstantSource;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaLimits;
import org.opendedup.sar.metadata.record.QuotaRecord;

/**
 * What the files of one user, group or project use, and its limits. Guarded by the monitor of {@link Quotas}. Of files,
 * what is taken is what the pending metadata have; of bytes, it also has those that are accepted and not stored.
 */
final class Usage {
    final QuotaId id;
    final Amount bytes = new Amount();
    final Amount files = new Amount();
    /** The bytes that the inodes of the pending metadata have. */
    long countedBytes;

    long graceSeconds;
    long folder;
    /** Whether it differs from its record. */
    boolean isChanged;
    /** Accounts that have it; guarded by the monitor of {@link UsageTable}. */
    int accounts;

    Usage(QuotaId id, QuotaRecord record) {
        this.id = id;
        bytes.taken = record.bytes();
        countedBytes = record.bytes();
        files.taken = record.files();
        setLimits(record.limits());
        bytes.overSinceMs = record.bytesOverSinceMs();
        files.overSinceMs = record.filesOverSinceMs();
        folder = record.folder();
    }

    void setLimits(QuotaLimits limits) {
        bytes.soft = limits.softBytes();
        bytes.hard = limits.hardBytes();
        files.soft = limits.softFiles();
        files.hard = limits.hardFiles();
        graceSeconds = limits.graceSeconds();
    }

    /**
     * Returns whether nothing is lost if it is read from its record later. Limits stay in memory, because they are
     * counted; so do projects, so that a free number is found.
     */
    boolean isStored() {
        return !isChanged
                && bytes.taken == countedBytes
                && bytes.measured == 0
                && limits().areNone()
                && (id.kind() != QuotaId.Kind.PROJECT || record().equals(QuotaRecord.NONE));
    }

    QuotaLimits limits() {
        return new QuotaLimits(bytes.soft, bytes.hard, files.soft, files.hard, graceSeconds);
    }

    QuotaRecord record() {
        return new QuotaRecord(countedBytes, files.taken, limits(), bytes.overSinceMs, files.overSinceMs, folder);
    }

    boolean isReached(InstantSource clock) {
        return bytes.isReached(graceSeconds, clock) || files.isReached(graceSeconds, clock);
    }

    boolean admits(long moreBytes, long moreFiles, InstantSource clock) {
        return bytes.admits(moreBytes, graceSeconds, clock) && files.admits(moreFiles, graceSeconds, clock);
    }
}
