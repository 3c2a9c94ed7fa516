package org.opendedup.sar.sim.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sim.SarSim;

/**
 * The command on {@code small.trace}: chunks of 10 bytes, containers of 30. Version 1 stores the chunks 1 to 9 in the
 * containers A, B and C; version 2 is 1 4 7 2 5 8 3 6 9, which is A B C A B C A B C.
 */
class RestoreCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void theReadsOfASmallTraceAreThoseCountedByHand() throws Exception {
        JsonNode rows = json("--cache-containers", "2", "--version", "2");
        // Reads three containers in turn, with room for two: LRU has always just evicted the next one.
        assertReads(9, rows, "lru");
        // Belady: A B C miss, then every other one hits: A- B- C- A B- C A- B C-.
        assertReads(6, rows, "opt");
        // Keeps 1; 4; 7; ... all that is still wanted fits at any time but for the chunks 8 and 9: see the table of
        // docs/RESTORE.md.
        assertTrue(reads(rows, "default") <= 4);
    }

    private static void assertReads(int reads, JsonNode rows, String policy) {
        assertEquals(reads, reads(rows, policy), policy);
    }

    private static int reads(JsonNode rows, String policy) {
        for (JsonNode row : rows) {
            if (row.get("policy").asText().equals(policy)) {
                return row.get("containerReads").asInt();
            }
        }
        throw new AssertionError("no row for " + policy);
    }

    @Test
    void aRowHasTheKeysThatTheHelpNames() throws Exception {
        JsonNode rows = json("--policy", "lru,opt", "--cache-containers", "1,3");
        assertEquals(2 * 2 * 2, rows.size());
        JsonNode row = rows.get(7);
        assertEquals("opt", row.get("policy").asText());
        assertEquals(3, row.get("cacheContainers").asInt());
        assertEquals(2, row.get("version").asInt());
        assertEquals(3, row.get("containerReads").asInt());
        assertEquals(3, row.get("floor").asInt());
        assertEquals(90, row.get("bytesRead").asLong());
        assertEquals(90, row.get("memoryHighWaterBytes").asLong());
        assertTrue(row.get("speedFactor").isDouble());
        assertEquals(8, row.size());
    }

    @Test
    void withoutJsonThereIsATable() throws Exception {
        assertEquals(0, run("--policy", "default", "--cache-containers", "2"));
        assertEquals(3, out.toString().lines().count());
    }

    @Test
    void wrongUseIsSaidInALine() throws Exception {
        for (List<String> arguments : List.of(
                List.of("--policy", "mru"),
                List.of("--cache-containers", "0"),
                List.of("--log-share", "1"),
                List.of("--window", "-1"),
                List.of("--version", "3"),
                List.of("--hash-type", "SHA256"),
                List.of("--hot-threshold", "two"))) {
            err.getBuffer().setLength(0);
            assertEquals(2, run(arguments.toArray(String[]::new)), arguments::toString);
            assertEquals(1, err.toString().lines().count(), err::toString);
        }
    }

    @Test
    void aTraceThatIsNotThereAndOneThatDoesNotFitFail() throws Exception {
        assertEquals(1, sim("restore", "--trace", "/nowhere/at-all"));
        assertEquals("sar-sim: there is no /nowhere/at-all" + System.lineSeparator(), err.toString());
        assertEquals(1, runWith("9"));
        assertTrue(err.toString().contains("small.trace, line 2: "), err.toString());
    }

    @Test
    void aSeriesThatWasMadeCanBeRestored(@TempDir Path folder) throws Exception {
        String trace = folder.resolve("series").toString();
        assertEquals(0, sim("series", "--out", trace, "--versions", "3", "--chunks", "2000", "--changed", "0.2"));
        assertEquals(4, out.toString().lines().count(), out::toString);
        out.getBuffer().setLength(0);
        assertEquals(0, sim("restore", "--trace", trace, "--policy", "lru,default", "--container-size", "256KB"));
        assertEquals(1 + 3 * 2 * 4, out.toString().lines().count());
        assertEquals(2, sim("series", "--out", trace, "--changed", "2"));
    }

    private JsonNode json(String... arguments) throws IOException, URISyntaxException {
        String[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = "--json";
        assertEquals(0, run(all), err::toString);
        return new ObjectMapper().readTree(out.toString());
    }

    private int run(String... arguments) throws URISyntaxException {
        return runWith("30", arguments);
    }

    private int runWith(String containerSize, String... arguments) throws URISyntaxException {
        Path trace = Path.of(RestoreCommandTest.class.getResource("small.trace").toURI());
        String[] all = new String[arguments.length + 5];
        System.arraycopy(
                new String[] {"restore", "--trace", trace.toString(), "--container-size", containerSize}, 0, all, 0, 5);
        System.arraycopy(arguments, 0, all, 5, arguments.length);
        return sim(all);
    }

    private int sim(String... arguments) {
        return SarSim.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }
}
