package org.opendedup.sar.sim.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sim.CommandTest;

/**
 * The command on {@code small.trace}: chunks of 10 bytes, containers of 30. Version 1 stores the chunks 1 to 9 in the
 * containers A, B and C; version 2 is 1 4 7 2 5 8 3 6 9, which is A B C A B C A B C.
 */
class RestoreCommandTest extends CommandTest {
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
            assertEquals(2, run(arguments.toArray(String[]::new)), arguments::toString);
            assertEquals(1, err.toString().lines().count(), err::toString);
        }
    }

    @Test
    void aTraceThatIsNotThereAndOneThatDoesNotFitFail() throws Exception {
        assertEquals(1, sim(List.of("restore", "--trace", "/nowhere/at-all")));
        assertEquals("sar-sim: there is no /nowhere/at-all" + System.lineSeparator(), err.toString());
        assertEquals(1, sim(small("9")));
        assertTrue(err.toString().contains("small.trace, line 2: "), err.toString());
    }

    @Test
    void aSeriesThatWasMadeCanBeRestored(@TempDir Path folder) throws Exception {
        String trace = folder.resolve("series").toString();
        List<String> series = List.of("series", "--out", trace);
        assertEquals(0, sim(series, "--versions", "3", "--chunks", "2000", "--changed", "0.2"));
        assertEquals(4, out.toString().lines().count(), out::toString);
        assertEquals(
                0, sim(List.of("restore", "--trace", trace), "--policy", "lru,default", "--container-size", "256KB"));
        assertEquals(1 + 3 * 2 * 4, out.toString().lines().count());
        assertEquals(2, sim(series, "--changed", "2"));
    }

    private JsonNode json(String... arguments) throws IOException, URISyntaxException {
        return json(small("30", "--json"), arguments);
    }

    private int run(String... arguments) throws URISyntaxException {
        return sim(small("30"), arguments);
    }

    private static List<String> small(String containerSize, String... more) throws URISyntaxException {
        Path trace = Path.of(RestoreCommandTest.class.getResource("small.trace").toURI());
        List<String> command = List.of("restore", "--trace", trace.toString(), "--container-size", containerSize);
        return Stream.concat(command.stream(), Stream.of(more)).toList();
    }
}
