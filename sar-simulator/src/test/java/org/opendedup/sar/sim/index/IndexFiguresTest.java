package org.opendedup.sar.sim.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.index.chunkstash.CuckooTable;
import org.opendedup.sar.index.chunkstash.StashSettings;
import org.opendedup.sar.sim.CommandTest;
import org.opendedup.sar.sim.trace.BackupVersion;

class IndexFiguresTest extends CommandTest {
    private static final IndexSizes SIZES =
            new IndexSizes(2 << 20, 16 << 20, 2, 0, 1, StashSettings.Samples.UNIFORM, CuckooTable.CANDIDATES);

    @TempDir
    Path folder;

    private IndexRun run(List<BackupVersion> versions) throws IOException {
        return new IndexRun(versions, SIZES, folder);
    }

    private static BackupVersion version(int... chunks) {
        BackupVersion version = new BackupVersion();
        for (int chunk : chunks) {
            version.add(chunk, 1 << 20);
        }
        return version;
    }

    /** Segments are of two chunks of 1 MiB. The second version's first segment shares one of them with the first's. */
    @Test
    void theGroupsOfSegmentsAreTheirSimilarityDegrees() throws IOException {
        IndexRun run = run(List.of(version(1, 2, 3, 4), version(1, 2, 5, 4)));
        SimilarityStudy study = run.similarity(SIZES);
        assertEquals(0.25, study.segmentShare(SimilarityStudy.GROUPS - 1), "1, 2 is known as a whole");
        double half = study.segmentShare(5);
        assertEquals(0.75, half + study.segmentShare(0), "5, 4 shares its lowest fingerprint with 3, 4, or not");
        assertEquals(2.0 / 3, study.similarityShare(SimilarityStudy.GROUPS - 1));
        double all = 0;
        for (int group = 0; group < SimilarityStudy.GROUPS; group++) {
            all += study.similarityShare(group) + study.localityShare(group) + study.missedShare(group);
        }
        assertEquals(1, all, 1e-9);
        assertEquals(1.0 / 3, study.similarityShare(5) + study.localityShare(0), 1e-9);
    }

    @Test
    void blocksAreOverAllNodesAndOneNodeFindsAll() throws IOException {
        IndexRun run = run(SyntheticTrace.STRONG.versions(5000, 40, 1));
        long one = run.routed(1, 2 << 20)[0];
        assertEquals(run.uniqueBytes(), one);
        assertEquals(1, run.foundShare(one), 1e-9);
        double before = 1;
        for (int nodes : new int[] {2, 16}) {
            long[] stored = run.routed(nodes, 2 << 20);
            assertTrue(Arrays.stream(stored).filter(bytes -> bytes > 0).count() > nodes / 2);
            double found = run.foundShare(Arrays.stream(stored).sum());
            assertTrue(found < before, nodes + " nodes find " + found);
            assertTrue(found > 0.5, nodes + " nodes find " + found);
            before = found;
        }
        // The control: what is not routed by content is stored again on each node.
        assertTrue(run.foundShare(run.bytes()) < 1e-9);
    }

    @Test
    void theTableMovesMoreAsItFillsAndLessWithMorePositions() throws IOException {
        TableStudy few = new TableStudy(16);
        TableStudy many = new TableStudy(32);
        assertEquals(0, few.fillTo(0.3), 1e-3);
        double early = few.fillTo(0.75);
        double late = few.fillTo(0.9);
        assertTrue(late > early, late + " relocations after " + early);
        many.fillTo(0.75);
        assertTrue(many.fillTo(0.9) < late);
        assertTrue(many.falseMatches() > few.falseMatches());
    }

    @Test
    void theFiguresAreInTheReport() throws IOException {
        List<String> command = List.of("index", "--synthetic", "weak", "--chunks", "600", "--index", "silo");
        assertEquals(0, sim(command, "--figures", "--report", folder.toString()));
        String page = Files.readString(folder.resolve("report.html"));
        for (String figure :
                "silo-2a silo-2b silo-10 silo-11 silo-13 silo-14 silo-18 chunkstash-4a chunkstash-4b".split(" ")) {
            assertTrue(page.contains("chart-" + figure), figure);
            assertTrue(Files.exists(folder.resolve(figure + ".svg")), figure);
        }
        assertEquals(2, sim(command, "--figures"), "there is nowhere to draw them");
    }
}
