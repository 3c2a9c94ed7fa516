package org.opendedup.sar.sdfs.jmx;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;

/**
 * The fast tier for new files in JMX: {@code org.opendedup.sar:type=FastTier,volume=<volume>}. {@code sdfscli VOLUME
 * tier status} and {@code stats} print the same values under the same names, with a small first letter. A getter throws
 * {@link java.io.UncheckedIOException} if the volume cannot return the value.
 */
@Description("The fast tier: new files that lie there whole until they are migrated (TDDFS paper §3)")
@JsonPropertyOrder({
    "mode",
    "absent",
    "hanging",
    "rawCapacityBytes",
    "rawUsedBytes",
    "rawFiles",
    "onlyThereFiles",
    "onlyThereBytes",
    "pinnedFiles",
    "rawFilesInUse",
    "roomForNewFiles",
    "highPercent",
    "lowPercent",
    "journalSeconds",
    "migrationPolicy",
    "copiedFiles",
    "copiedBytes",
    "aheadFiles",
    "aheadBytes",
    "migratedFiles",
    "migratedBytes",
    "lostFiles",
})
public interface FastTierMXBean {
    @Description("Where new files are stored first, except in folders that say otherwise: sar or tddfs")
    @Unit("name")
    String getMode();

    @Description("Why the fast tier cannot be used; empty if it can, or if the volume has none")
    @Unit("text")
    String getAbsent();

    @Description("What the fast tier does not answer; empty if it answers, or if the volume has none."
            + " The other figures are as they were last seen meanwhile")
    @Unit("text")
    String getHanging();

    @Description("Largest number of bytes of raw files; 0 without a fast tier for new files")
    @Unit("bytes")
    long getRawCapacityBytes();

    @Description("Bytes that raw files take on the fast tier")
    @Unit("bytes")
    long getRawUsedBytes();

    @Description("Files that lie whole on the fast tier")
    @Unit("files")
    long getRawFiles();

    @Description("Raw files that are not in chunks as well: a lost fast tier loses them")
    @Unit("files")
    long getOnlyThereFiles();

    @Description("Bytes of these")
    @Unit("bytes")
    long getOnlyThereBytes();

    @Description("Raw files that are not migrated")
    @Unit("files")
    long getPinnedFiles();

    @Description("Raw files that are open now")
    @Unit("files")
    long getRawFilesInUse();

    @Description("Whether new files can become raw now")
    @Unit("yes or no")
    boolean isRoomForNewFiles();

    @Description("Use of the capacity from which files are migrated")
    @Unit("percent")
    int getHighPercent();

    @Description("Use of the capacity at which migration ends")
    @Unit("percent")
    int getLowPercent();

    @Description("Seconds without use after which a raw file is also stored in chunks; 0 if it is not")
    @Unit("seconds")
    int getJournalSeconds();

    @Description("Which raw files are migrated first: lru or mixed")
    @Unit("name")
    String getMigrationPolicy();

    @Description("Raw files stored in chunks since the volume was mounted")
    @Unit("files")
    long getCopiedFiles();

    @Description("Bytes of these")
    @Unit("bytes")
    long getCopiedBytes();

    @Description("Those of them that were stored at idle time, before their migration was needed")
    @Unit("files")
    long getAheadFiles();

    @Description("Bytes of these")
    @Unit("bytes")
    long getAheadBytes();

    @Description("Files migrated since the volume was mounted")
    @Unit("files")
    long getMigratedFiles();

    @Description("Bytes of these")
    @Unit("bytes")
    long getMigratedBytes();

    @Description("Files whose bytes were only on the fast tier, which does not have them any more")
    @Unit("files")
    long getLostFiles();
}
