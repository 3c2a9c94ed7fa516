package org.opendedup.sar.sim.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sim.trace.BackupVersion;

/** The system that the ChunkStash paper compares with finds what an exact index finds, with little memory too. */
class BerkeleyModelTest {
    private static final int CHUNKS = 5000;

    @TempDir
    Path folder;

    private static void store(IndexModel model, BackupVersion version) throws IOException {
        TraceSegment segment = new TraceSegment();
        for (int chunk = 0; chunk < version.chunks(); chunk++) {
            segment.add(version.fingerprint(chunk), version.length(chunk));
            if (segment.count() == 256 || chunk + 1 == version.chunks()) {
                model.store(segment);
                segment.clear();
            }
        }
        model.finish();
    }

    @Test
    void findsAllDuplicatesAlsoOfEarlierBackups() throws IOException {
        List<BackupVersion> versions = SyntheticTrace.STRONG.versions(CHUNKS, 40, 7);
        ExactModel exact = new ExactModel();
        for (BackupVersion version : versions.subList(0, 3)) {
            long before = exact.foundChunks();
            store(exact, version);
            try (BerkeleyModel model = new BerkeleyModel(folder, 1 << 20, 2 * CHUNKS, 2)) {
                store(model, version);
                assertEquals(exact.foundChunks() - before, model.foundChunks());
                assertTrue(model.lookups() < version.chunks() / 4, "the cache has most: " + model.lookups());
            }
        }
    }

    @Test
    void askedForFewNewChunks() throws IOException {
        BackupVersion version = SyntheticTrace.STRONG.versions(CHUNKS, 40, 7).get(0);
        try (BerkeleyModel model = new BerkeleyModel(folder, 1 << 20, CHUNKS, 2)) {
            store(model, version);
            assertTrue(model.lookups() < CHUNKS / 20, "the filter lets 1 in 100 pass: " + model.lookups());
        }
    }
}
