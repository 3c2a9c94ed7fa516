package org.opendedup.sar.metadata.db;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.ContainerSummary;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.SystemRecords;

/** Reads records as the database has them, without what is pending. */
public final class StoredRecords {
    private StoredRecords() {}

    /**
     * Returns a record of the SYSTEM family that every volume has.
     *
     * @throws CorruptionException if it is missing
     */
    public static byte[] system(KeyValueStore database, byte[] key) throws IOException {
        byte[] value = database.get(Family.SYSTEM, key);
        if (value == null) {
            throw new CorruptionException(
                    "metadata database", -1, "the system record " + new String(key, US_ASCII), "none");
        }
        return value;
    }

    public static ContainerSummary containers(KeyValueStore database) throws IOException {
        return SystemRecords.decodeContainers(system(database, SystemRecords.CONTAINERS));
    }

    /** Returns a container's counts; empty ones if there is no record. */
    public static CountRecord counts(KeyValueStore database, long container) throws IOException {
        byte[] value = database.get(Family.COUNT, Keys.of(container));
        return value == null
                ? CountRecord.empty(CountRecord.NO_GENERATION)
                : CountRecord.decode(container, value, CountRecord.NO_GENERATION);
    }
}
