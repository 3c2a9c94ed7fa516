package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import org.opendedup.sar.sdfs.fuse.FuseMount;
import org.opendedup.sar.volume.Volume;

/** Finds files of a mounted volume by their paths, after the kernel has written back its cache. */
record ServedPaths(Volume volume, FuseMount mount) {
    /** As {@link VolumePaths#use}. */
    <T> T use(String path, VolumePaths.Use<T> use) throws IOException {
        mount.writeBack();
        return new VolumePaths(volume).use(path, use);
    }
}
