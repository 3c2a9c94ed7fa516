package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import org.opendedup.sar.volume.Volume;

/** Finds files of a mounted volume by their paths, after the kernel has written back its cache. */
public record ServedPaths(Volume volume, Cache cache) {
    /** What programs have written and the kernel has not sent yet. */
    @FunctionalInterface
    public interface Cache {
        void writeBack() throws IOException;
    }

    /** As {@link VolumePaths#use}. */
    <T> T use(String path, VolumePaths.Use<T> use) throws IOException {
        cache.writeBack();
        return new VolumePaths(volume).use(path, use);
    }
}
