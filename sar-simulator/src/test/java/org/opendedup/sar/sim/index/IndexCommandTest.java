package org.opendedup.sar.sim.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sim.CommandTest;

class IndexCommandTest extends CommandTest {
    @TempDir
    Path folder;

    private JsonNode rows(String... arguments) throws IOException {
        return json(List.of("index"), arguments);
    }

    private static JsonNode row(JsonNode rows, String index) {
        for (JsonNode row : rows) {
            if (row.path("index").asText().equals(index)) {
                return row;
            }
        }
        throw new AssertionError("no row of " + index);
    }

    @Test
    void exactIndexesFindAllAndNearExactOnesNoMore() throws IOException {
        JsonNode rows = rows("--synthetic", "strong", "--chunks", "20000", "--block", "16MiB", "--json");
        assertEquals(6, rows.size());
        for (String exact : new String[] {"exact", "chunkstash", "ddfs"}) {
            assertEquals(1, row(rows, exact).path("foundShare").asDouble(), exact);
        }
        for (String near : new String[] {"sparse", "binning", "silo"}) {
            double share = row(rows, near).path("foundShare").asDouble();
            assertTrue(share > 0.8 && share < 1, near + " " + share);
        }
        JsonNode silo = row(rows, "silo");
        // Equation 5 of the paper: 16 MiB / (16 MiB + 2 MiB).
        assertTrue(silo.path("foundShare").asDouble() >= 8.0 / 9, silo::toString);
        assertTrue(silo.path("readsPerSegment").asDouble() <= 1, "at most one read a segment");
        assertTrue(silo.path("indexBytesPerPb").asDouble() < 30e9, "less than the paper's: " + silo);
    }

    @Test
    void blocksAsInThePaperFindNearlyAll() throws IOException {
        JsonNode rows = rows("--synthetic", "strong", "--chunks", "20000", "--index", "silo", "--json");
        assertTrue(row(rows, "silo").path("foundShare").asDouble() >= 0.98, rows::toString);
    }

    private JsonNode sampled(String... more) throws IOException {
        List<String> command = List.of(
                "index", "--synthetic", "strong", "--chunks", "20000", "--index", "chunkstash", "--json", "--block");
        List<String> small = List.of("16MiB", "--cached-blocks", "1");
        return row(json(Stream.of(command, small).flatMap(List::stream).toList(), more), "chunkstash");
    }

    @Test
    void samplesLoseLittleAndMoreTheFewerThereAre() throws IOException {
        JsonNode all = sampled();
        assertEquals(1, all.path("sampling").asInt());
        assertEquals(0, all.path("lostChunksShare").asDouble());
        double before = 0;
        for (int sampling : new int[] {8, 64}) {
            JsonNode row = sampled("--sampling", String.valueOf(sampling));
            assertEquals(sampling, row.path("sampling").asInt());
            double lost = row.path("lostChunksShare").asDouble();
            assertTrue(lost > before && lost < 0.05, row::toString);
            before = lost;
            double least = all.path("indexBytes").asDouble() / sampling;
            double most = 1.5 * least + 1000;
            assertTrue(row.path("indexBytes").asDouble() >= least, row::toString);
            assertTrue(row.path("indexBytes").asDouble() <= most, row::toString);
            double random = sampled("--random-samples", "--sampling", String.valueOf(sampling))
                    .path("lostChunksShare")
                    .asDouble();
            assertTrue(random > lost, "random samples lose " + random + ", uniform ones " + lost);
        }
    }

    @Test
    void aTableThatIsFullKeepsSamples() throws IOException {
        JsonNode row = sampled("--table", "32KiB");
        assertTrue(row.path("sampling").asInt() > 1, row::toString);
        assertTrue(row.path("indexBytes").asLong() <= 32 << 10, row::toString);
        assertTrue(row.path("foundShare").asDouble() > 0.9, row::toString);
        assertTrue(row.path("foundShare").asDouble() < 1, row::toString);
    }

    @Test
    void samplingThatNoTableHasIsRefused() {
        for (String[] wrong : new String[][] {{"--sampling", "3"}, {"--sampling", "2048"}, {"--table", "1KiB"}}) {
            assertEquals(2, sim(List.of("index", "--synthetic", "weak"), wrong), wrong[0] + " " + wrong[1]);
        }
    }

    @Test
    void theSameInputGivesTheSameRows() throws IOException {
        String[] command = {"--synthetic", "incremental", "--chunks", "3000", "--report", folder.toString(), "--json"};
        JsonNode first = rows(command);
        String csv = Files.readString(folder.resolve("index.csv"));
        assertEquals(first, rows(command));
        assertEquals(csv, Files.readString(folder.resolve("index.csv")));
        assertTrue(Files.readString(folder.resolve("report.html")).contains("chart-index-memory"));
        assertEquals(
                first, new ObjectMapper().readTree(folder.resolve("index.json").toFile()));
    }

    /** Two versions of 60 new chunks, by hand: each model finds the second one whole. */
    @Test
    void aVersionThatIsStoredTwiceIsFoundTheSecondTime() throws IOException {
        Path trace = folder.resolve("twice.trace");
        StringBuilder text = new StringBuilder();
        for (int version = 1; version <= 2; version++) {
            text.append("# version ").append(version).append('\n');
            for (int chunk = 1; chunk <= 60; chunk++) {
                text.append(Integer.toHexString(chunk)).append(" 8192\n");
            }
        }
        Files.writeString(trace, text);
        for (JsonNode row : rows("--trace", trace.toString(), "--json")) {
            // Both versions are in one segment of sparse, which finds repetitions in a segment.
            assertEquals(60 * 8192, row.path("foundBytes").asLong(), row::toString);
            assertEquals(1, row.path("foundShare").asDouble(), row::toString);
        }
    }

    @Test
    void whatIsNotAnIndexIsRefused() {
        assertEquals(2, sim(List.of("index", "--synthetic", "weak", "--index", "silo,bloom")));
        assertTrue(err.toString().contains("bloom is none of [exact, chunkstash"), err.toString());
    }
}
