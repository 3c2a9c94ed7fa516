package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.io.PrivateFolder;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.volume.VolumeConfig;

/**
 * The folders in which a volume keeps bytes of its files: only its owner may read or change anything there, whatever the volume's own
 * modes say. Not the SSD location, which is looked at when it is attached, as its disk may hang.
 *
 * @param base holds the others by default
 * @param data may have a million files
 * @param small the other ones
 */
record VolumeFolders(Path base, Path data, List<Path> small) {
    static VolumeFolders of(VolumeDefinition definition) {
        VolumeConfig.Locations locations = definition.config().locations();
        Path base = definition.basePath();
        return new VolumeFolders(
                base,
                locations.data(),
                List.of(
                        locations.metadata(),
                        locations.hashDb(),
                        RunFiles.runFolder(definition),
                        RunFiles.logFolder(definition)));
    }

    /**
     * Makes sure that no other user can write there, or put another folder in the place of one.
     *
     * @throws IOException if one can; says where, and the way out
     */
    void requireSafe() throws IOException {
        PrivateFolder.at(base).requireSafe();
        PrivateFolder.at(data).requireSafe();
        for (Path folder : small) {
            PrivateFolder.at(folder).requireSafe();
        }
    }

    /** Takes from other users what permissions they have; the number of files and folders where they had some. */
    int narrow() throws IOException {
        // First, as it holds the others by default: from then on nobody comes to them.
        int narrowed = PrivateFolder.at(base).narrow();
        for (Path folder : small) {
            narrowed += Files.isDirectory(folder) ? PrivateFolder.at(folder).narrowAll() : 0;
        }
        // A data location that is private has been so since it was made, or this came to its end; looking at each
        // container takes long.
        PrivateFolder containers = PrivateFolder.at(data);
        narrowed += Files.isDirectory(data) && containers.isWide() ? containers.narrowAll() : 0;
        return narrowed;
    }

    static String report(int narrowed) {
        return "other users had permissions for " + narrowed + " of its files and folders; took them away";
    }
}
