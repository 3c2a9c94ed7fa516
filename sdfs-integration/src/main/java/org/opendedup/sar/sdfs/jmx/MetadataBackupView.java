package org.opendedup.sar.sdfs.jmx;

import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.config.OtherHistory;

/**
 * Implements {@link MetadataBackupMXBean}.
 *
 * @param copies makes copies
 * @param data the data location
 */
record MetadataBackupView(MetadataBackups backups, MetadataBackups.Copies copies, Path data)
        implements MetadataBackupMXBean {
    @Override
    public String getFolder() {
        return backups.folder().toString();
    }

    @Override
    public List<String> getBackups() {
        return Beans.call(() -> backups.list().stream().map(this::line).toList());
    }

    private String line(Backup backup) {
        Instant made = Instant.EPOCH.plusNanos(backup.origin().createdNs()).truncatedTo(ChronoUnit.SECONDS);
        return backup.number() + ": " + made + ", " + backup.bytes() + " bytes"
                + (backups.isOlderThanCollection(backup) ? ", older than a collection of garbage" : "");
    }

    @Override
    public long getFailures() {
        return backups.failures();
    }

    @Override
    public long backUpTo(String folder) {
        Path target = Path.of(folder);
        return Beans.call(() -> copies.copyTo(target).backup().number());
    }

    @Override
    public boolean acceptRestored() {
        return Beans.call(() -> OtherHistory.giveUp(FileDirectory.open(data)));
    }
}
