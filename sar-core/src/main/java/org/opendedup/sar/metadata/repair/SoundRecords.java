package org.opendedup.sar.metadata.repair;

import java.io.IOException;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.NameHash;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.versions.Kinds;

/**
 * Tells which records of a damaged database can be decoded, and notes the highest numbers in them. Records of which a
 * repair or a mount takes care, damaged or not, count as sound: counts, the container table, raw files, and the intent
 * log, in which a missing record would not be noticed.
 */
final class SoundRecords {
    private final int pageBytes;
    private final NameHash hash;
    private long highestInode = Inode.ROOT;
    private long highestContainer;
    private long highestBirth;

    SoundRecords(int pageBytes, NameHash hash) {
        this.pageBytes = pageBytes;
        this.hash = hash;
    }

    /** Returns the highest inode number of all records that were looked at. */
    long highestInode() {
        return highestInode;
    }

    /** Returns the highest id of a container of all records that were looked at. */
    long highestContainer() {
        return highestContainer;
    }

    /** Returns the highest birth and death of all records that were looked at; 0 if there never was a snapshot. */
    long highestBirth() {
        return highestBirth;
    }

    boolean isSound(Family family, byte[] key, byte[] value) {
        if (family == Family.DEATH && key.length >= Keys.LONG_BYTES) {
            highestBirth = Math.max(highestBirth, Keys.longAt(key, 0));
        }
        if (family == Family.SYSTEM || family == Family.VERSION || family == Family.DEATH) {
            return true;
        }
        if (key.length < Keys.LONG_BYTES) {
            return false;
        }
        long number = Keys.longAt(key, 0);
        if (family == Family.COUNT || family == Family.CONTAINER) {
            highestContainer = Math.max(highestContainer, number);
            return true;
        }
        highestInode = Math.max(highestInode, number);
        if (Kinds.of(family) != null) {
            highestBirth = Math.max(highestBirth, Births.of(value));
        }
        try {
            return switch (family) {
                case INODE ->
                    key.length == Keys.LONG_BYTES && Inode.decode(number, value).id() > 0;
                case ENTRY -> isSound(Entry.decode(key, value, hash));
                case ORPHAN ->
                    key.length == Keys.LONG_BYTES
                            && Namespace.decodeOrphan(number, value).inode() > 0;
                case RECIPE -> key.length == 2 * Keys.LONG_BYTES && isSound(RecipeFormat.decode(key, value, pageBytes));
                default -> true;
            };
        } catch (IOException e) {
            return false;
        }
    }

    private boolean isSound(Entry entry) {
        highestInode = Math.max(highestInode, entry.inode());
        return entry.inode() > 0;
    }

    private boolean isSound(RecipePage page) {
        for (int entry = 0; entry < page.count(); entry++) {
            if (!page.isZero(entry)) {
                highestContainer = Math.max(highestContainer, ChunkId.container(page.chunkId(entry)));
            }
        }
        return true;
    }
}
