package org.opendedup.sar.sim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands with {@code --report}, small. */
class ReportedRunsTest extends CommandTest {
    private static final List<String> PAPER_LOOKAHEAD = List.of("paper", "lookahead", "--chunks", "1500");

    @TempDir
    Path folder;

    private int run(List<String> arguments, String report) {
        return sim(arguments, "--report", folder.resolve(report).toString());
    }

    private Path trace() {
        Path trace = folder.resolve("series.trace");
        assertEquals(
                0,
                run(List.of("series", "--out", trace.toString(), "--versions", "3", "--chunks", "2000"), "series"),
                err::toString);
        return trace;
    }

    private void assertSameBytes(String one, String other) throws IOException {
        try (var files = Files.list(folder.resolve(one))) {
            List<Path> all = files.toList();
            assertFalse(all.isEmpty());
            for (Path file : all) {
                assertArrayEquals(
                        Files.readAllBytes(file),
                        Files.readAllBytes(folder.resolve(other).resolve(file.getFileName())),
                        file::toString);
            }
        }
    }

    private String page(String report) throws IOException {
        return Files.readString(folder.resolve(report).resolve("report.html"));
    }

    private JsonNode rows(String report, String name) throws IOException {
        return new ObjectMapper()
                .readTree(folder.resolve(report).resolve(name + ".json").toFile());
    }

    @Test
    void aRestoreReportHasTheRowsOfTheJsonAndNoNameOfTheFolder() throws IOException {
        Path trace = trace();
        List<String> command = List.of(
                "restore",
                "--trace",
                trace.toString(),
                "--cache-containers",
                "2,4",
                "--container-size",
                "256KB",
                "--json");
        assertEquals(0, run(command, "one"), err::toString);
        JsonNode printed = new ObjectMapper().readTree(out.toString());
        assertEquals(0, run(command, "other"));
        assertSameBytes("one", "other");
        assertEquals(printed, rows("one", "restore"));
        assertTrue(page("one").contains("chart-restore-reads-by-memory"));
        assertTrue(page("one").contains("chart-restore-reads-by-version"));
        assertFalse(page("one").contains(folder.getFileName().toString()));
    }

    @Test
    void aReplayReportHasAPointForEachPartOfTheTime() throws IOException {
        List<String> command =
                List.of("sar", "--synthetic", "homes", "--warm", "0", "--window", "10:00-12:00", "--ssd", "10MB,20MB");
        assertEquals(0, run(command, "one"), err::toString);
        assertEquals(0, run(command, "other"));
        assertSameBytes("one", "other");
        assertTrue(page("one").contains("<strong>Synthetic:</strong>"));
        JsonNode systems = rows("one", "systems");
        assertEquals(2 + 4 * 2, systems.size());
        assertEquals(12 * systems.size(), rows("one", "series").size());
        assertTrue(rows("one", "calibration").size() > 0);
        String requests = Files.readString(folder.resolve("one/disk-requests-over-time.svg"));
        assertEquals(List.of(12, 12, 12, 12, 12, 12), pointsOfLines(requests));
    }

    /** A line's path moves to its first point and then draws to each, that one included. */
    private static List<Integer> pointsOfLines(String svg) {
        return Pattern.compile("<path d=\"([^\"]*)\" fill=\"none\"")
                .matcher(svg)
                .results()
                .map(path -> path.group(1).split("L", -1).length - 1)
                .toList();
    }

    @Test
    void theLookaheadPapersFiguresAreOfSixSeriesLikeItsSets() throws IOException {
        assertEquals(0, run(PAPER_LOOKAHEAD, "one"), err::toString);
        for (String figure : List.of(
                "table-1",
                "figure-3a",
                "figure-3b",
                "figure-3c",
                "figure-4",
                "figure-8",
                "figure-9",
                "figure-10",
                "figure-11",
                "figure-12",
                "policies")) {
            assertTrue(page("one").contains("chart-lookahead-" + figure), figure);
        }
        JsonNode sets = rows("one", "sets");
        assertEquals(6, sets.size());
        // 5 versions of five sets and 2 of the sixth; Table 1 of the paper.
        JsonNode versions = rows("one", "table-1");
        assertEquals(27, versions.size());
        assertEquals(0.035, versions.get(1).get("storedSharePublished").asDouble());
        JsonNode first = rows("one", "figure-4").get(0);
        assertEquals(0, first.get("firstContainer").asInt());
        JsonNode whole = rows("one", "figure-3").get(12);
        assertEquals(100, whole.get("containersPercent").asDouble());
        assertEquals(100, whole.get("visitsPercent").asDouble());
        for (JsonNode row : rows("one", "figures")) {
            assertTrue(row.get("containerReads").asInt() >= row.get("floor").asInt(), row::toString);
            assertTrue(row.get("megabytesPerSecond").asDouble() > 0, row::toString);
        }
        assertTrue(err.toString().contains("like ds-6: Figure 12"), err::toString);
    }

    @Test
    void aTraceTakesTheSeriesPlace() throws IOException {
        assertEquals(0, run(List.of("paper", "lookahead", "--trace", trace().toString()), "one"), err::toString);
        assertEquals(1, rows("one", "sets").size());
        assertFalse(page("one").contains("Synthetic"));
    }

    @Test
    void theSarPapersFiguresNormaliseByNative() throws IOException {
        List<String> command = List.of("paper", "sar", "--traces", "homes", "--warm", "0", "--image-scale", "0.01");
        assertEquals(0, run(command, "one"), err::toString);
        for (String chart : List.of("figure-7", "figure-8", "figure-9", "figure-10", "figure-11", "energy", "memory")) {
            assertTrue(page("one").contains("chart-sar-" + chart), chart);
        }
        assertEquals(2 + 4 * 3, rows("one", "systems").size());
        assertTrue(err.toString().contains("synthetic, like homes: sar-cost with 2GB"), err::toString);
    }

    @Test
    void theSarPapersCostIsWeighedByThePriceOfAnSsd() throws IOException {
        List<String> command = List.of("paper", "sar", "--traces", "homes", "--warm", "0", "--image-scale", "0.01");
        assertEquals(0, run(Stream.concat(command.stream(), Stream.of("--cost")).toList(), "dear"), err::toString);
        assertTrue(page("dear").contains("chart-sar-cost"));
        for (String chart : List.of("figure-1", "figure-3a", "figure-3b", "figure-12")) {
            assertTrue(page("dear").contains("chart-sar-" + chart), chart);
        }
        JsonNode largest = rows("dear", "cost").get(2);
        assertEquals(0.4, largest.get("ssdPercent").asDouble(), 1e-9, "2 of 500 GB");
        assertEquals(1.08, largest.get("costTimes").asDouble(), 1e-9);
        assertEquals(
                largest.get("timesFaster").asDouble() / 1.08,
                largest.get("timesFasterPerCost").asDouble(),
                1e-9);
        JsonNode disk = rows("dear", "devices").get(0);
        JsonNode ssd = rows("dear", "devices").get(1);
        assertEquals(13.29, disk.get("randomMillis").asDouble(), 0.3);
        assertEquals(0.06, ssd.get("randomMillis").asDouble(), 0.001);
    }

    @Test
    void theSelfCheckAndASeriesAreReportedToo() throws IOException {
        trace();
        assertEquals(3, rows("series", "versions").size());
        assertTrue(page("series").contains("chart-new-data"));
        assertEquals(0, run(List.of("selfcheck"), "selfcheck"), err::toString);
        assertTrue(page("selfcheck").contains("13.29"));
    }

    @Test
    void aVersionWithoutChunksHasNoPoint() throws IOException {
        Path data = Files.createDirectory(folder.resolve("data"));
        Files.write(data.resolve("file"), new byte[] {1, 2, 3});
        Path empty = Files.createDirectory(folder.resolve("empty"));
        List<String> command = List.of("restore", "--policy", "lru", "--data", data.toString(), empty.toString());
        assertEquals(0, run(command, "one"), err::toString);
        assertEquals(0, rows("one", "restore").get(4).get("containerReads").asInt());
        assertTrue(page("one").contains("chart-restore-reads-by-version"));
        assertFalse(page("one").contains("chart-restore-reads-by-memory"));
        assertTrue(page("one").contains("VARIABLE_SHA256"));
    }

    @Test
    void aReplayWithoutReadsHasNoChartsOfThem() throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 50; i++) {
            text.append(String.format("%d 7 httpd %d 8 W 8 1 %032x%n", i * 20_000_000L, 8000 * i, (i + 1L) << 50));
        }
        Path trace = Files.writeString(folder.resolve("trace"), text);
        List<String> command = List.of("sar", "--trace", trace.toString(), "--warm", "0", "--ssd", "1MB");
        assertEquals(0, run(command, "one"), err::toString);
        assertEquals(0, rows("one", "systems").get(0).get("reads").asInt());
        assertTrue(page("one").contains("chart-disk-requests"));
        assertFalse(page("one").contains("chart-response"));
        assertFalse(page("one").contains("chart-mean-response"));
    }

    @Test
    void aReportWhoseFolderIsAFileFailsWithTheReason() throws IOException {
        Files.writeString(folder.resolve("file"), "");
        assertEquals(1, run(List.of("selfcheck"), "file"));
        assertTrue(
                err.toString().endsWith("/file exists already and is not a folder" + System.lineSeparator()),
                err::toString);
    }

    @Test
    void wrongUseIsSaidBeforeAnyWork() {
        assertEquals(2, run(List.of("paper"), "x"));
        assertEquals(2, run(List.of("paper", "lookahead", "--chunks", "0"), "x"));
        assertEquals(2, run(List.of("paper", "lookahead", "--trace", "t", "--chunks", "9"), "x"));
        assertEquals(2, run(List.of("paper", "lookahead", "--trace", "t", "--seed", "9"), "x"));
        assertEquals(2, run(List.of("paper", "sar", "--traces", "usr"), "x"));
        assertEquals(2, run(List.of("paper", "sar", "--warm", "8"), "x"));
        assertFalse(Files.exists(folder.resolve("x")));
    }
}
