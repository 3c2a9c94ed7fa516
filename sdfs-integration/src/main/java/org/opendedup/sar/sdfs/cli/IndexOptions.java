package org.opendedup.sar.sdfs.cli;

import org.jspecify.annotations.Nullable;
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

    IndexPlacement placement() {
        return new IndexPlacement(ssdCapacityBytes == null ? 0 : ssdCapacityBytes);
    }
}
