package org.opendedup.sar.sim.estimate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.opendedup.sar.container.ContainerSize;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.sim.estimate.RestoreModel.DiskWork;

/** Reads of data whose slices are stored one after the other. */
class RestoreModelTest {
    private static final int SLICE = RestoreModel.SLICE_BYTES;
    private static final int SLICES = ContainerSize.FULL_BYTES / SLICE;
    private static final long WINDOW = 64L << 20;
    private static final int BATCH = 16 << 20;
    /** Slices in a gap that is read. */
    private static final int GAP = DiskModel.HDD.gapBytes() / SLICE;

    private final RestoreModel model = new RestoreModel(DiskModel.HDD, WINDOW, BATCH);

    @Test
    void aPathOfNewDataIsOneRequest() {
        store(3 * SLICES);
        for (int slice = 0; slice < 3 * SLICES; slice++) {
            read(slice);
        }
        assertEquals(new DiskWork(3, 1, 3L * ContainerSize.FULL_BYTES), model.finish());
    }

    @Test
    void rangesOnBothSidesOfABorderAreOneRequestIfTheGapIsSmall() {
        store(2 * SLICES);
        model.finish();
        int first = SLICES - 1 - GAP / 2;
        read(first);
        read(first + GAP + 1);
        assertEquals(new DiskWork(2, 1, (GAP + 2L) * SLICE), model.finish());
        read(first);
        read(first + GAP + 2);
        assertEquals(new DiskWork(2, 2, 2L * SLICE), model.finish());
    }

    @Test
    void eachBatchVisitsThePacksAnew() {
        store(2 * SLICES);
        model.finish();
        store(2 * SLICES);
        model.finish();
        for (int batch = 0; batch < 2; batch++) {
            read(batch * SLICES);
            read((2 + batch) * SLICES);
            model.advance(BATCH - 2 * SLICE);
        }
        assertEquals(new DiskWork(4, 4, 4L * SLICE), model.finish());
        // The control: one batch.
        read(0);
        read(2 * SLICES);
        read(1);
        read(2 * SLICES + 1);
        assertEquals(new DiskWork(2, 2, 4L * SLICE), model.finish());
    }

    @Test
    void whatIsWantedAgainAfterTheWindowIsReadAgain() {
        store(2 * SLICES);
        model.finish();
        for (int time = 0; time < 3; time++) {
            read(SLICES - 1);
            read(SLICES);
            model.advance((int) WINDOW);
        }
        assertEquals(new DiskWork(6, 3, 6L * SLICE), model.finish());
    }

    @Test
    void thePathsLieInPacksOfTheirOwn() {
        store(SLICES - GAP / 2);
        model.finish();
        int second = store(1);
        assertEquals(SLICES, second);
        read(SLICES - GAP / 2 - 1);
        read(second);
        assertEquals(new DiskWork(2, 2, 2L * SLICE), model.finish());
        // The control: as near, across the border of a container, in one pack.
        int third = store(SLICES + 1);
        read(third + SLICES - GAP / 2 - 1);
        read(third + SLICES);
        assertEquals(new DiskWork(2, 1, (GAP / 2 + 2L) * SLICE), model.finish());
    }

    private int store(int slices) {
        int first = model.store(SLICE);
        for (int i = 1; i < slices; i++) {
            model.store(SLICE);
        }
        return first;
    }

    private void read(int slice) {
        model.want(slice);
        model.advance(SLICE);
    }
}
