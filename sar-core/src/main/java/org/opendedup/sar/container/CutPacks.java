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

/**
 * Finds what lies behind the end of its pack: a damaged file system, its repair or a copy of the folder may have cut
 * the file short. Compares the container table with the lengths of the files, and reads none. For one thread.
 */
final class CutPacks {
    /** Returns the frame table of a container. */
    @FunctionalInterface
    interface Tables {
        FrameTable of(long container) throws IOException;
    }

    private final Directory directory;
    private final ContainerClaims claims;
    private final Tables tables;

    CutPacks(Directory directory, ContainerClaims claims, Tables tables) {
        this.directory = directory;
        this.claims = claims;
        this.tables = tables;
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
                continue;
            }
        }
        return cut;
    }

    /** @param bytes bytes of the container that are in its pack; 0 or less if there are none */
    private void visit(long container, long bytes, LostSlots visitor) throws IOException {
        FrameTable table;
        try {
            table = tables.of(container);
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
