package org.opendedup.sar.sdfs.cli.mounts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.io.PrivateFolder;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * The folders in which a volume keeps the bytes of its files. Only their owner may read or change anything there,
 * whatever modes the volume's own files have. The SSD location is not included: it is checked when it is attached,
 * because its disk may hang.
 *
 * @param base folder that contains the others by default
 * @param data folders that may have a million files
 * @param small the other folders
 */
public record VolumeFolders(Path base, List<Path> data, List<Path> small) {
    public static VolumeFolders of(VolumeDefinition definition) {
        VolumeConfig.Locations locations = definition.config().locations();
        Path base = definition.basePath();
        return new VolumeFolders(
                base,
                locations.allData(),
                List.of(
                        locations.metadata(),
                        locations.hashDb(),
                        RunFiles.runFolder(definition),
                        RunFiles.logFolder(definition)));
    }

    /**
     * Checks that no other user can write there, or replace one of the folders.
     *
     * @throws IOException if another user can; says where, and the remedy
     */
    public void requireSafe() throws IOException {
        PrivateFolder.at(base).requireSafe();
        for (Path folder : data) {
            PrivateFolder.at(folder).requireSafe();
        }
        for (Path folder : small) {
            PrivateFolder.at(folder).requireSafe();
        }
    }

    /** Removes all permissions of other users; returns the number of files and folders that had some. */
    public int narrow() throws IOException {
        // First, because it contains the others by default: from here on, no other user can reach them.
        int narrowed = PrivateFolder.at(base).narrow();
        for (Path folder : small) {
            narrowed += Files.isDirectory(folder) ? PrivateFolder.at(folder).narrowAll() : 0;
        }
        // A data location that is private has been so since it was made, or an earlier run of this finished; examining
        // each container would last long.
        for (Path folder : data) {
            PrivateFolder containers = PrivateFolder.at(folder);
            narrowed += Files.isDirectory(folder) && containers.isWide() ? containers.narrowAll() : 0;
        }
        return narrowed;
    }

    public static String report(int narrowed) {
        return "other users had permissions for " + narrowed + " of its files and folders; removed them";
    }
}
