package org.opendedup.sar.sdfs.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexPlacement;
import org.opendedup.sar.sdfs.cli.command.SizeConverter;
import picocli.CommandLine.Option;

/** The options of mkfs.sdfs that say where a ChunkStash index lies. */
final class IndexOptions {
    @Option(
            names = "--index-ssd-capacity",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Largest total size of a chunkstash index in the hashdb location. When it is full, or its "
                    + "device is, its oldest part moves to an index beside the containers, which is asked last. At "
                    + "least 16MB; 40 to 60 bytes a chunk are enough for all. Default: as much as the device has.")
    @Nullable
    Long ssdCapacityBytes;

    @Option(
            names = "--index-home",
            paramLabel = "FOLDER",
            description =
                    "Folder on a disk that keeps a chunkstash index, if the SSD is only lent to it. A mount loads "
                            + "the index to the hashdb location in one piece; an unmount, and sdfscli VOLUME index "
                            + "store, write back what is new. After an unmount anybody may empty the hashdb location. "
                            + "Default: none.")
    @Nullable
    Path home;

    /**
     * @param indexName the class of the index
     * @throws IllegalArgumentException if an option has no effect on an index of that class
     */
    IndexPlacement placement(String indexName) {
        String chunkstash = IndexClass.CHUNKSTASH.label();
        if ((ssdCapacityBytes != null || home != null) && !indexName.equals(chunkstash)) {
            throw new IllegalArgumentException((home != null ? "--index-home" : "--index-ssd-capacity")
                    + " is for an index of class " + chunkstash + ": add --chunk-store-hashdb-class=" + chunkstash
                    + ", or leave it out");
        }
        return new IndexPlacement(
                ssdCapacityBytes == null ? 0 : ssdCapacityBytes,
                home == null ? null : home.toAbsolutePath().normalize());
    }
}
