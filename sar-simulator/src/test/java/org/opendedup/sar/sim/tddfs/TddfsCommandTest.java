package org.opendedup.sar.sim.tddfs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sim.CommandTest;

class TddfsCommandTest extends CommandTest {
    @TempDir
    Path folder;

    private int run(String... arguments) {
        return sim(List.of("tddfs"), arguments);
    }

    @Test
    void aTraceOfAFileIsReplayedOnAllDesigns() throws IOException {
        Path trace = Files.writeString(
                folder.resolve("two.csv"), "file,a,600000\nfile,b,600000\nread,a,0,600000\nread,b,0,600000\n");
        JsonNode runs = json(
                        List.of("tddfs", "--trace", trace.toString()),
                        "--fast",
                        "60",
                        "--ratio",
                        "1",
                        "--garbage",
                        "100",
                        "--json")
                .path("runs");
        assertEquals(DesignKind.values().length, runs.size());
        // a is on the slow tier at first; it returns and b leaves, then the reverse.
        JsonNode noDedup = runs.get(0);
        assertEquals("NoDedup", noDedup.path("design").asText());
        assertEquals(1_200_000, noDedup.path("upBytes").asLong());
        assertEquals(1_200_000, noDedup.path("downBytes").asLong());
        JsonNode tddfs = runs.get(DesignKind.TDDFS.ordinal());
        assertEquals(1_200_000, tddfs.path("upBytes").asLong());
        assertEquals(600_000, tddfs.path("downBytes").asLong(), "a leaves again without being moved");
    }

    @Test
    void theSameSeedPrintsTheSame() {
        String[] arguments = {"--figure", "5c,6d", "--scale", "0.01", "--seed", "4", "--designs", "NoDedup,TDDFS"};
        assertEquals(0, run(arguments), err::toString);
        String first = out.toString();
        assertEquals(0, run(arguments));
        assertEquals(first, out.toString());
        assertTrue(first.contains("seed: 4"), first);
        assertTrue(first.contains("Figure 5c: Throughput of Syn_trace, MB/s"), first);
        assertFalse(first.contains("Figure 5a"), first);
        arguments[5] = "5";
        assertEquals(0, run(arguments));
        assertNotEquals(first, out.toString().replace("seed: 5", "seed: 4"), "another seed");
    }

    @Test
    void eachAssumptionChangesTheResults() throws IOException {
        List<String> usual = List.of(
                "tddfs", "--figure", "5c,5e", "--scale", "0.01", "--grain", "16", "--designs", "AllDedup,TDDFS");
        JsonNode without = json(usual, "--json").path("runs");
        for (Assumption assumption : Assumption.values()) {
            JsonNode with =
                    json(usual, "--assume", assumption.label(), "--json").path("runs");
            assertNotEquals(without, with, assumption.label());
        }
        assertEquals(2, run("--figure", "5c", "--assume", "slow"));
        assertTrue(
                err.toString().contains("there is no assumption 'slow'; the assumptions are even-times,"),
                err::toString);
    }

    @Test
    void allFiguresAreDrawnAndTheStatementsChecked() throws IOException {
        assertEquals(
                0,
                run(
                        "--figures",
                        "--scale",
                        "0.01",
                        "--grain",
                        "16",
                        "--report",
                        folder.resolve("report").toString()),
                err::toString);
        for (Figure figure : Figure.values()) {
            assertTrue(out.toString().contains("Figure " + figure.label() + ": "), figure.label());
            assertTrue(Files.exists(folder.resolve("report/tddfs-figure-" + figure.label() + ".svg")));
        }
        assertTrue(out.toString().contains("TDDFS / NoDedup, mean over Figure 6: "), out.toString());
        String rows = Files.readString(folder.resolve("report/runs.csv"));
        int points = 0;
        for (Sweep sweep : Sweep.values()) {
            points += sweep.points().size();
        }
        assertEquals(1 + points * DesignKind.values().length, rows.lines().count());
        assertTrue(Files.readString(folder.resolve("report/claims.csv")).startsWith("statement,compared,value,limit"));
    }

    @Test
    void onlyStatementsAboutTheComputedFiguresAreChecked() {
        assertEquals(0, run("--figure", "5c", "--scale", "0.01", "--grain", "16"), err::toString);
        assertTrue(out.toString().contains("TDDFS is faster than SlowTierOnly (5c)"), out.toString());
        assertFalse(out.toString().contains("Figure 6"), out.toString());
    }

    @Test
    void wrongOptionsAreRefused() {
        assertEquals(2, run("--figure", "8a"));
        assertTrue(err.toString().contains("there is no figure '8a'; the figures are 5a, "));
        assertEquals(2, run("--workload", "web"));
        assertEquals(2, run("--figures", "--fast", "20"));
        assertEquals(2, run("--workload", "syn", "--designs", "None"));
        assertEquals(2, run("--workload", "syn", "--scale", "0.01", "--fast", "0"));
        assertEquals(2, run());
        assertEquals(1, run("--trace", folder.resolve("absent").toString()));
    }
}
