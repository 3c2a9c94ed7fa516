package org.opendedup.sar.sdfs.cli;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexPlacement;
import org.opendedup.sar.sdfs.cli.command.SizeConverter;
import picocli.CommandLine.Option;

/** The option of mkfs.sdfs that says where a ChunkStash index lies. */
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

    /**
     * @param indexName the class of the index
     * @throws IllegalArgumentException if the option has no effect on an index of that class
     */
    IndexPlacement placement(String indexName) {
        String chunkstash = IndexClass.CHUNKSTASH.label();
        if (ssdCapacityBytes == null) {
            return IndexPlacement.DEFAULT;
        }
        if (!indexName.equals(chunkstash)) {
            throw new IllegalArgumentException("--index-ssd-capacity is for an index of class " + chunkstash
                    + ": add --chunk-store-hashdb-class=" + chunkstash + ", or leave it out");
        }
        return new IndexPlacement(ssdCapacityBytes);
    }
}
