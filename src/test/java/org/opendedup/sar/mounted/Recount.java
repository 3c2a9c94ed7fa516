package org.opendedup.sar.mounted;

import java.io.IOException;
import java.util.List;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;

/** Opens an unmounted volume in this process, and compares its stored counts with the references in its recipes. */
final class Recount {
    private Recount() {}

    static List<String> problems(MountedVolume volume) throws IOException {
        try (Volume opened = Volume.open(
                new ConfigDirectory(volume.configFolder()).read(volume.name()).config())) {
            return VolumeChecker.check(opened);
        }
    }
}
