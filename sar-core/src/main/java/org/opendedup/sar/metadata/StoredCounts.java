package org.opendedup.sar.metadata;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.StoredRecords;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.record.Totals;

/**
 * The counts of a volume of chunks as they are stored, and the totals that they must add up to. There are no references
 * to compare them with: those are the client's.
 */
public final class StoredCounts {
    private final KeyValueStore database;
    private final @Nullable Totals totals;

    private StoredCounts(KeyValueStore database, @Nullable Totals totals) {
        this.database = database;
        this.totals = totals;
    }

    /**
     * Returns the counts in a database.
     *
     * @throws IOException if it is that of a volume of files, or another program version created it
     */
    public static StoredCounts of(KeyValueStore database) throws IOException {
        SystemRecords.decodeHeader(StoredRecords.system(database, SystemRecords.HEADER))
                .require(MetadataHeader.Contents.CHUNKS);
        return new StoredCounts(database, MetadataRecords.totalsOf(database));
    }

    /** Returns the totals; null if their record is damaged. */
    public @Nullable Totals totals() {
        return totals;
    }

    /** Visits all counts. */
    public void forEachCounted(MetadataRecords.CountVisitor visitor) throws IOException {
        MetadataRecords.countsOf(database, visitor);
    }
}
