package org.opendedup.sar.sdfs.jmx;

import java.util.List;

/**
 * Backups of a volume's metadata. In JMX: {@code org.opendedup.sar:type=MetadataBackup,volume=<volume>}, in the process
 * of an SDFS with the plugin.
 */
@Description("Backs up the metadata of a volume")
public interface MetadataBackupMXBean {
    @Description("Folder of the automatic backups")
    @Unit("path")
    String getFolder();

    @Description("The backups, the oldest first: number, time in UTC, bytes, and whether garbage was collected since")
    @Unit("text")
    List<String> getBackups();

    @Description("Automatic backups that failed since the volume was mounted")
    @Unit("backups")
    long getFailures();

    @Description("Adds a backup to a folder, reads it back to verify it, and returns its number")
    @Unit("number")
    long backUpTo(@Name("folder") @Description("Absolute path of the folder") @Unit("path") String folder);

    @Description("After a restore of the metadata: gives the replaced metadata up, so that garbage is collected again. "
            + "What SDFS has written or claimed since the backup may be collected then")
    @Unit("true or false")
    boolean acceptRestored();
}
