package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.nio.file.Path;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;

/** Opens fingerprint indexes. */
@FunctionalInterface
interface IndexOpener {
    /** Opens the index of a class in a folder, or makes one there. */
    ChunkIndex open(IndexClass kind, Path database) throws IOException;

    /** Deletes what indexes that are gone left elsewhere. */
    default void deleteOrphans(Path inUse) throws IOException {}
}
