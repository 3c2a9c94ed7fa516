package org.opendedup.sar.volume;

import java.io.IOException;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.format.PackFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs the packs that are missing when a volume is mounted: reading shows the loss only where it happens to read. */
final class MissingPacks {
    private static final Logger log = LoggerFactory.getLogger(MissingPacks.class);

    private MissingPacks() {}

    /** Logs each missing pack once. Reads the container table and the list of packs, and nothing of their contents. */
    static void log(ContainerStore containers, String volume) {
        try {
            containers
                    .missingPacks()
                    .forEach((pack, count) -> log.error(
                            "pack {} is missing, with {} containers: what files have in them cannot be read. Bring it"
                                    + " back; for the list of the damaged files, unmount the volume and run:"
                                    + " sdfs-check {}",
                            PackFormat.fileName(pack),
                            count,
                            volume));
        } catch (IOException | RuntimeException e) {
            log.warn("it is not known whether packs are missing: {}", e.getMessage());
        }
    }
}
