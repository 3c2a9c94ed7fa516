package org.opendedup.sar.check;

import java.io.IOException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.repair.MetadataRepair;

/** Repairs the metadata of a volume that is not in use: checks and corrects until nothing is left to correct. */
public final class VolumeRepair {
    /** A correction may make another one necessary, such as the links of the folder for what was found. */
    private static final int MOST_ROUNDS = 8;

    private VolumeRepair() {}

    /**
     * Makes the container table anew, and corrects everything else.
     *
     * @param found the epoch in which the data location was last used
     * @return what was done to the container table
     */
    public static TableRebuild.Report run(
            PackFolder data,
            KeyValueStore database,
            Epoch found,
            MetadataRepair repair,
            Scratch scratch,
            Progress progress)
            throws IOException {
        TableRebuild.Report rebuilt = rebuild(data, database, found, progress);
        for (int round = 0; round < MOST_ROUNDS; round++) {
            StoredVolume.correct(data, database, scratch, repair, progress);
            if (repair.finish() == 0) {
                break;
            }
            // The container table has the live bytes of the counts.
            TableRebuild.Report again = rebuild(data, database, found, progress);
            rebuilt = rebuilt.changes() > 0 ? rebuilt : again;
        }
        return rebuilt;
    }

    /** Makes the container table anew. */
    public static TableRebuild.Report rebuild(PackFolder data, KeyValueStore database, Epoch found, Progress progress)
            throws IOException {
        return new TableRebuild(data, ContainerRecords.open(database), found, progress).run();
    }
}
