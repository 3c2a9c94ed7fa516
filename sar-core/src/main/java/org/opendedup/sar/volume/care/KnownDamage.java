package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.util.SortedMap;
import java.util.TreeMap;
import org.opendedup.sar.volume.engine.EngineInUse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What of an open volume is known to be damaged at one moment. Safe for use by many threads. */
final class KnownDamage {
    private static final Logger log = LoggerFactory.getLogger(KnownDamage.class);

    private final EngineInUse volume;

    KnownDamage(EngineInUse volume) {
        this.volume = volume;
    }

    /** Returns whether chunks with references are damaged, or a pack is missing. Reads nothing from the disk. */
    boolean isAny() {
        return volume.metadata().totals().stored().damagedChunks() > 0
                || volume.damaged().missingPacks() > 0;
    }

    /** Records all that was found by now, commits, and returns the places. */
    DamagePlaces places() throws IOException {
        volume.damaged().noteMissingPacks(); // A pack may be back.
        volume.damaged().recordAll();
        try {
            // So that inodes have the present lengths of their files.
            volume.committer().commit();
        } catch (IOException e) {
            log.debug("the list of damage is made without what cannot be committed", e);
        }
        return DamagePlaces.of(volume.metadata(), missingPacks());
    }

    /** Returns the packs that are missing now, with when that was found, in milliseconds since 1970. */
    private SortedMap<Long, Long> missingPacks() throws IOException {
        SortedMap<Long, Long> missing = new TreeMap<>();
        if (volume.damaged().missingPacks() > 0) {
            SortedMap<Long, Long> noted = volume.metadata().damage().missingPacks();
            long now = System.currentTimeMillis();
            volume.containers()
                    .missingPacks()
                    .keySet()
                    .forEach(pack -> missing.put(pack, noted.getOrDefault(pack, now)));
        }
        return missing;
    }
}
