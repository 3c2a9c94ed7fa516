package org.opendedup.sar.sim.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.cluster.BlockShape;
import org.opendedup.sar.sim.trace.BackupVersion;

/** A trace in clusters, and the control: blocks that end after a number of bytes. */
class ClusterRunTest {
    @Test
    void blocksByContentFindMoreAndOnlyTheNewVolumeGetsBlocks() throws IOException {
        List<BackupVersion> versions = SyntheticTrace.STRONG.versions(10_000, 40, 1);
        ClusterRun content = new ClusterRun(versions, ClusterRun.Division.of(new BlockShape(256 << 10, 64, 2 << 20)));
        ClusterRow one = content.row(1);
        assertEquals(1, one.foundShare(), 1e-9);
        assertEquals(content.uniqueBytes(), one.storedBytes());
        assertEquals(1, one.fullest(), 1e-9);
        ClusterRow four = content.row(4);
        assertEquals(0, four.movedElsewhere());
        assertEquals(four.fairShare(), four.movedShare(), 0.1);
        assertTrue(four.foundShare() > 0.9 && four.foundShare() < 1, four::toString);
        assertEquals(1, four.shardsOfFullest(), 0.05);

        ClusterRow fixed = new ClusterRun(versions, ClusterRun.Division.fixed(1 << 20)).row(4);
        assertTrue(fixed.foundShare() < four.foundShare() - 0.03, fixed::toString);
    }
}
