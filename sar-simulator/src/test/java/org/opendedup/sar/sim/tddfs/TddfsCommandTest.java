package org.opendedup.sar.sim.tddfs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sim.SarSim;

class TddfsCommandTest {
    @TempDir
    Path folder;

    private record Outcome(int code, String out, String err) {}

    private static Outcome run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        List<String> all = new ArrayList<>(List.of("tddfs"));
        all.addAll(List.of(arguments));
        int code = SarSim.run(new PrintWriter(out), new PrintWriter(err), all.toArray(String[]::new));
        return new Outcome(code, out.toString(), err.toString());
    }

    @Test
    void aTraceOfAFileIsReplayedOnAllDesigns() throws IOException {
        Path trace = Files.writeString(
                folder.resolve("two.csv"), "file,a,600000\nfile,b,600000\nread,a,0,600000\nread,b,0,600000\n");
        Outcome outcome =
                run("--trace", trace.toString(), "--fast", "60", "--ratio", "1", "--garbage", "100", "--json");
        assertEquals(0, outcome.code(), outcome.err());
        JsonNode runs = new ObjectMapper().readTree(outcome.out()).path("runs");
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
        Outcome outcome = run(arguments);
        assertEquals(0, outcome.code(), outcome.err());
        assertEquals(outcome.out(), run(arguments).out());
        assertTrue(outcome.out().contains("seed: 4"), outcome.out());
        assertTrue(outcome.out().contains("Figure 5c: Throughput of Syn_trace, MB/s"), outcome.out());
        assertFalse(outcome.out().contains("Figure 5a"), outcome.out());
        assertFalse(
                outcome.out()
                        .equals(run("--figure", "5c,6d", "--scale", "0.01", "--seed", "5", "--designs", "NoDedup,TDDFS")
                                .out()
                                .replace("seed: 5", "seed: 4")),
                "another seed");
    }

    @Test
    void allFiguresAreDrawnAndTheStatementsChecked() throws IOException {
        Outcome outcome = run(
                "--figures",
                "--scale",
                "0.01",
                "--grain",
                "16",
                "--report",
                folder.resolve("report").toString());
        assertEquals(0, outcome.code(), outcome.err());
        for (Figure figure : Figure.values()) {
            assertTrue(outcome.out().contains("Figure " + figure.label() + ": "), figure.label());
            assertTrue(Files.exists(folder.resolve("report/tddfs-figure-" + figure.label() + ".svg")));
        }
        assertTrue(outcome.out().contains("TDDFS / NoDedup, mean over Figure 6: "), outcome.out());
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
        Outcome outcome = run("--figure", "5c", "--scale", "0.01", "--grain", "16");
        assertEquals(0, outcome.code(), outcome.err());
        assertTrue(outcome.out().contains("TDDFS is faster than SlowTierOnly (5c)"), outcome.out());
        assertFalse(outcome.out().contains("Figure 6"), outcome.out());
    }

    @Test
    void wrongOptionsAreRefused() {
        assertEquals(2, run("--figure", "8a").code());
        assertTrue(run("--figure", "8a").err().contains("there is no figure '8a'; the figures are 5a, "));
        assertEquals(2, run("--workload", "web").code());
        assertEquals(2, run("--figures", "--fast", "20").code());
        assertEquals(2, run("--workload", "syn", "--designs", "None").code());
        assertEquals(
                2, run("--workload", "syn", "--scale", "0.01", "--fast", "0").code());
        assertEquals(2, run().code());
        assertEquals(1, run("--trace", folder.resolve("absent").toString()).code());
    }
}
