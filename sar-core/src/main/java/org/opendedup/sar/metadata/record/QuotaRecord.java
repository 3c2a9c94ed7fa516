package org.opendedup.sar.metadata.record;

import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * What the files of a user, group or project use, and its limits.
 *
 * <p>Its record: a version byte, then varints: bytes and files (zigzag), soft and hard limit of bytes, soft and hard
 * limit of files, grace time, since when each soft limit is exceeded, folder.
 *
 * @param bytes the sum of {@link Inode#dataBytes()} of its inodes
 * @param files number of its inodes
 * @param bytesOverSinceMs since when the soft limit of bytes is exceeded, in milliseconds since 1970; 0: it is not
 * @param filesOverSinceMs the same of files
 * @param folder of a project: inode number of the folder for which it was made; 0 if there is none
 */
public record QuotaRecord(
        long bytes, long files, QuotaLimits limits, long bytesOverSinceMs, long filesOverSinceMs, long folder) {
    static final int VERSION = 1;

    /** Of what has no files and no limits; it needs no record. */
    public static final QuotaRecord NONE = new QuotaRecord(0, 0, QuotaLimits.NONE, 0, 0, 0);

    /** Returns the same limits with other amounts. */
    public QuotaRecord withAmounts(long newBytes, long newFiles) {
        return new QuotaRecord(newBytes, newFiles, limits, bytesOverSinceMs, filesOverSinceMs, folder);
    }

    public byte[] encode() {
        return new ValueWriter(40)
                .writeByte(VERSION)
                .writeZigzag(bytes)
                .writeZigzag(files)
                .writeVarint(limits.softBytes())
                .writeVarint(limits.hardBytes())
                .writeVarint(limits.softFiles())
                .writeVarint(limits.hardFiles())
                .writeVarint(limits.graceSeconds())
                .writeVarint(bytesOverSinceMs)
                .writeVarint(filesOverSinceMs)
                .writeVarint(folder)
                .toBytes();
    }

    public static QuotaRecord decode(QuotaId id, byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(value, "quota of " + id.kind().text(), id.number()).expectVersion(VERSION);
        long bytes = in.readZigzag();
        long files = in.readZigzag();
        long softBytes = in.readVarint(Long.MAX_VALUE);
        long hardBytes = in.readVarint(Long.MAX_VALUE);
        long softFiles = in.readVarint(Long.MAX_VALUE);
        long hardFiles = in.readVarint(Long.MAX_VALUE);
        long grace = in.readVarint(QuotaLimits.MAX_GRACE_SECONDS);
        long bytesOver = in.readVarint(Long.MAX_VALUE);
        long filesOver = in.readVarint(Long.MAX_VALUE);
        long folder = in.readVarint(Long.MAX_VALUE);
        in.expectEnd();
        try {
            QuotaLimits limits = new QuotaLimits(softBytes, hardBytes, softFiles, hardFiles, grace);
            return new QuotaRecord(bytes, files, limits, bytesOver, filesOver, folder);
        } catch (IllegalArgumentException e) {
            throw in.corruption("limits", String.valueOf(e.getMessage()));
        }
    }
}
