package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.objects.ObjectStore;

/** Thrown if no volume of this name has a file in the config folder, or an object store has no volume. */
public final class NoSuchVolumeException extends IOException {
    private static final long serialVersionUID = 1;

    NoSuchVolumeException(String volume, Path folder, List<String> known) {
        super("no volume '" + volume + "' in " + folder + "; "
                + (known.isEmpty()
                        ? "there are none: make one with mkfs.sdfs, or the lost file of one with mkfs.sdfs --recover"
                        : "known: " + String.join(", ", known))
                + " (the folder is set by SDFS_CONFIG_DIR)");
    }

    /**
     * Of an object store without a volume.
     *
     * @param object name of the object that is missing there
     */
    NoSuchVolumeException(ObjectStore store, String object) {
        super("there is no volume in " + store + " (no object " + object + ")");
    }

    /** Of a volume that is being removed. */
    NoSuchVolumeException(String volume) {
        super("the volume '" + volume + "' is being removed; to finish that: sdfscli " + volume + " destroy");
    }
}
