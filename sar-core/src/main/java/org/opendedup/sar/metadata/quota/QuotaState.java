package org.opendedup.sar.metadata.quota;

import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaLimits;

/**
 * What a user, group or project uses at a moment.
 *
 * @param bytes bytes of its files, as the capacity counts them
 * @param files number of its inodes
 * @param bytesGraceEndMs until when the soft limit of bytes may be exceeded, in milliseconds since 1970; 0: it is not
 *     exceeded
 * @param filesGraceEndMs the same of files
 * @param folder of a project: inode number of the folder for which it was made; 0 if there is none
 */
public record QuotaState(
        QuotaId id,
        long bytes,
        long files,
        QuotaLimits limits,
        long bytesGraceEndMs,
        long filesGraceEndMs,
        long folder) {
    static QuotaState of(Usage usage) {
        return new QuotaState(
                usage.id,
                usage.bytes.used(),
                usage.files.used(),
                usage.limits(),
                graceEndMs(usage.bytes, usage.graceSeconds),
                graceEndMs(usage.files, usage.graceSeconds),
                usage.folder);
    }

    private static long graceEndMs(Amount amount, long graceSeconds) {
        return amount.overSinceMs == 0 ? 0 : amount.graceEndMs(graceSeconds);
    }
}
