package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.SplittableRandom;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.volume.store.ChunkIndexes;

/** Power cuts during an arrangement and the collection after it. */
class ArrangementCrashTest extends MovedReferencesCrashContract {
    private static final int PIECE = 16 << 10;
    /** So that the old file is large enough to be read alone, and not together with the newest one. */
    private static final int APART = 1200 << 10;

    private static final int PIECES = 8;
    /** A disk on which a seek costs as much as reading 100 kB. */
    private static final DiskModel DISK = DiskModel.configured(1, 100_000_000);

    @Override
    void store(SplittableRandom random) throws IOException {
        byte[] old = new byte[PIECES * APART];
        random.nextBytes(old);
        byte[] newest = new byte[2 * PIECES * PIECE];
        random.nextBytes(newest);
        for (int piece = 0; piece < PIECES; piece++) {
            System.arraycopy(old, piece * APART, newest, 2 * piece * PIECE, PIECE);
        }
        store("old", old, ChunkIndexes.heap());
        store("newest", newest, ChunkIndexes.heap());
        uniqueBytes = old.length + PIECES * PIECE;
    }

    @Override
    void move(Volume volume) throws IOException {
        arrange(volume);
    }

    @Override
    void moveAll(Volume volume) throws IOException {
        ArrangementReport report = arrange(volume);
        assertEquals(PIECES * PIECE, report.movedBytes(), report::toString);
    }

    private static ArrangementReport arrange(Volume volume) throws IOException {
        return volume.maintenance().arrange(new ArrangementLimits(1, 1.1), DISK, Progress.NONE);
    }
}
