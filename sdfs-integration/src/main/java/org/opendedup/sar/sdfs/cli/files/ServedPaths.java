package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import org.opendedup.sar.volume.Volume;

/** Finds files of a mounted volume by their paths, after the kernel has begun to write back its cache. */
public record ServedPaths(Volume volume, Cache cache) {
    /** What the kernel knows of the volume. */
    public interface Cache {
        /** Makes it send what programs have written, and waits for that. It drops pages of files that are written. */
        void writeBack() throws IOException;

        /** Makes it begin to send what programs have written; it keeps its pages. */
        void beginWriteBack() throws IOException;

        /** Makes it ask again whether a name exists in the directory with this inode number. */
        void forget(long directory, byte[] name);
    }

    /** As {@link VolumePaths#use}. */
    <T> T use(String path, VolumePaths.Use<T> use) throws IOException {
        cache.beginWriteBack();
        return new VolumePaths(volume).use(path, use);
    }
}
