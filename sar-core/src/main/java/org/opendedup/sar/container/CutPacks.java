package org.opendedup.sar.container;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.Map;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the chunks that should lie after the end of their pack. A damaged file system, a repair of it or an incomplete
 * copy of the folder makes packs shorter. Compares the container table with the lengths of the files; reads no pack.
 * For one thread.
 */
final class CutPacks {
    private static final Logger log = LoggerFactory.getLogger(CutPacks.class);

    private final Directory directory;
    private final ContainerClaims claims;
    private final SealedContainers sealed;

    CutPacks(Directory directory, ContainerClaims claims, SealedContainers sealed) {
        this.directory = directory;
        this.claims = claims;
        this.sealed = sealed;
    }

    /** Visits the slots whose frames are not, or not whole, in their packs. */
    void forEach(LostSlots visitor) throws IOException {
        Map<Long, Long> cut = lengthsOfCutPacks();
        if (cut.isEmpty()) {
            return;
        }
        claims.forEach((container, stored) -> {
            Long length = cut.get(stored.pack());
            // Else a collection has moved it meanwhile.
            if (length != null && isBehind(stored, length) && stored.equals(claims.stored(container))) {
                visit(container, length - stored.offset(), visitor);
            }
        });
    }

    private static boolean isBehind(StoredContainer stored, long length) {
        return stored.state() == StoredContainer.State.SEALED && stored.offset() + stored.bytes() > length;
    }

    /** Returns the lengths of those packs that are shorter than their containers need. Missing ones are not these. */
    private Map<Long, Long> lengthsOfCutPacks() throws IOException {
        Map<Long, Long> needed = new HashMap<>();
        claims.forEach((container, stored) -> {
            if (stored.state() == StoredContainer.State.SEALED) {
                needed.merge(stored.pack(), stored.offset() + stored.bytes(), Math::max);
            }
        });
        Map<Long, Long> cut = new HashMap<>();
        for (Map.Entry<Long, Long> pack : needed.entrySet()) {
            try {
                long length = directory.length(PackFormat.fileName(pack.getKey()));
                if (length < pack.getValue()) {
                    cut.put(pack.getKey(), length);
                }
            } catch (NoSuchFileException | FileNotFoundException e) {
                // A missing pack is noticed elsewhere.
                log.debug("pack {} is missing", pack.getKey(), e);
            }
        }
        return cut;
    }

    /** @param bytes bytes of the container that are in its pack; 0 or less if there are none */
    private void visit(long container, long bytes, LostSlots visitor) throws IOException {
        FrameTable table;
        try {
            table = sealed.located(container).table();
        } catch (CorruptionException e) {
            visitor.lost(container, 0, claims.slots(container).length());
            return;
        }
        for (int frame = 0; frame < table.frames(); frame++) {
            if (table.fileLength(frame) > 0 && table.fileOffset(frame) + table.fileLength(frame) > bytes) {
                // Frames lie in their order.
                visitor.lost(container, table.firstSlot(frame), table.slots());
                return;
            }
        }
    }
}
