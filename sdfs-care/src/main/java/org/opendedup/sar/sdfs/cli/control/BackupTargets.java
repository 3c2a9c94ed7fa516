package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.volume.backup.MetadataBackups;

/**
 * Makes copies of the metadata in folders that somebody names, apart from the volume: a copy in the volume is lost with
 * its metadata, and one beside the volume's own files with these.
 *
 * @param own the volume's own folders
 * @param mountPoint where it is mounted; null if that is not known
 */
public record BackupTargets(
        MetadataBackups backups, OwnFolders own, @Nullable Path mountPoint) implements MetadataBackups.Copies {
    /**
     * Returns those of a volume of files.
     *
     * @param present returns the volume as it is now
     */
    public static BackupTargets of(
            MetadataBackups backups, Supplier<VolumeDefinition> present, @Nullable Path mountPoint) {
        return new BackupTargets(backups, new OwnFolders(() -> own(present.get())), mountPoint);
    }

    private static Map<String, Path> own(VolumeDefinition definition) {
        Map<String, Path> own = new LinkedHashMap<>(definition.stores());
        own.put("base path", definition.basePath());
        return own;
    }

    /**
     * Adds a copy to a folder.
     *
     * @throws IOException if the folder is not apart from the volume, or the copy fails
     */
    @Override
    public MetadataBackups.Copy copyTo(Path folder) throws IOException {
        requireApart(folder);
        return backups.backUpTo(folder);
    }

    /** @throws IOException if the folder is not apart from the volume; the message says why */
    void requireApart(Path folder) throws IOException {
        if (!folder.isAbsolute()) {
            throw new IOException(folder + " is no absolute path");
        }
        if (mountPoint != null && PathWalk.to(folder).meets(mountPoint)) {
            throw new IOException(folder + " lies in the volume itself, and would be lost with its metadata;"
                    + " choose a folder outside it");
        }
        own.requireApart(folder);
    }
}
