package org.opendedup.sar.sim.estimate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sim.CommandTest;
import org.opendedup.sar.ssd.SsdSize;

/**
 * The command on a folder with 24 KiB: {@code one} has the blocks A B A, {@code below/two} has A, zeros, and A again.
 */
class EstimateCommandTest extends CommandTest {
    private static final int BLOCK = 4096;

    @TempDir
    Path folder;

    private Path data;

    @BeforeEach
    void makeFiles() throws IOException {
        byte[] blocks = new byte[2 * BLOCK];
        new Random(1).nextBytes(blocks);
        data = folder.resolve("data");
        Files.createDirectories(data.resolve("below"));
        byte[] one = new byte[3 * BLOCK];
        System.arraycopy(blocks, 0, one, 0, 2 * BLOCK);
        System.arraycopy(blocks, 0, one, 2 * BLOCK, BLOCK);
        Files.write(data.resolve("one"), one);
        byte[] two = new byte[3 * BLOCK];
        System.arraycopy(blocks, 0, two, 0, BLOCK);
        System.arraycopy(blocks, 0, two, 2 * BLOCK, BLOCK);
        Files.write(data.resolve("below/two"), two);
    }

    @Test
    void withPricesItTellsWhatAnObjectStoreCosts() throws IOException {
        JsonNode estimate = json("--store-prices", "1000,0,0,0,0", "--daily-change=0", data.toString());
        double stored = value(estimate, "storedBytes");
        assertEquals(
                stored / 1e6, estimate.get("objectStore").get("monthStored").asDouble(), 1e-9);
        assertFalse(json(data.toString()).has("objectStore"), "without prices");
        assertEquals(0, run("--store-prices", "s3-standard", data.toString()));
        assertTrue(out.toString().contains("4.32 for the lease"), out.toString());
    }

    @Test
    void theFiguresOfASmallFolderAreThoseCountedByHand() throws IOException {
        JsonNode estimate = json("--ssd-share", "0.5,1", data.toString());
        assertEquals(2, estimate.get("files").asInt());
        assertEquals(6 * BLOCK, estimate.get("bytes").asInt());
        assertEquals(BLOCK, estimate.get("zeroBytes").asInt());
        assertEquals(5, estimate.get("references").asInt());
        assertEquals(2, value(estimate, "chunks"));
        assertEquals(2 * BLOCK, value(estimate, "uniqueBytes"));
        assertEquals(2.5, value(estimate, "dedupRatio"));
        assertTrue(estimate.get("whole").asBoolean());
        // A has four references, B one.
        JsonNode shared = estimate.get("sharing").get(1);
        assertEquals(3, shared.get("atLeast").asInt());
        assertEquals(1, value(shared, "chunks"));
        assertEquals(0.8, value(shared, "readShare"), 1e-9);
        assertEquals(0, value(estimate.get("sharing").get(2), "chunks"));
        JsonNode half = estimate.get("ssd").get(0);
        assertEquals(4, half.get("leastReferences").asInt());
        assertTrue(half.get("reachable").asBoolean());
        // Of A, which gives four fifths, five eighths of it: a record of that, 60 bytes of header and crc for each;
        // random bytes stay.
        assertEquals(
                SsdSize.capacityFor(Math.round(SsdSize.record(BLOCK) * 0.625)),
                half.get("bytes").asLong());
        assertEquals(
                Math.round(0.625 * SsdSize.MAP_TABLE_BYTES_PER_COPY),
                half.get("mapTableBytes").asLong());
        JsonNode all = estimate.get("ssd").get(1);
        assertFalse(all.get("reachable").asBoolean());
        assertEquals(0.8, all.get("readShare").asDouble(), 1e-9);
        assertEquals(1, estimate.get("restore").get("requests").asInt());
    }

    @Test
    void linksFurtherNamesAndDevicesArePassedOver() throws Exception {
        Files.createLink(data.resolve("again"), data.resolve("one"));
        Files.createSymbolicLink(data.resolve("below/loop"), data);
        Process fifo = new ProcessBuilder("mkfifo", data.resolve("fifo").toString()).start();
        assertTrue(fifo.waitFor(10, TimeUnit.SECONDS));
        JsonNode estimate = json(data.toString());
        assertEquals(2, estimate.get("files").asInt());
        assertEquals(5, estimate.get("references").asInt());
        assertEquals(3, estimate.get("passedOver").asInt());
    }

    @Test
    void aLinkThatIsGivenIsFollowed() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), data);
        assertEquals(2, json(link.toString()).get("files").asInt());
    }

    @Test
    void pathsAreStoredInTheirOrder() throws IOException {
        JsonNode restores = json(
                        data.resolve("one").toString(), data.resolve("below").toString())
                .get("restores");
        assertEquals(2 * BLOCK, value(restores.get(0), "newBytes"));
        assertEquals(0, value(restores.get(1), "newBytes"));
        assertEquals(2 * BLOCK, restores.get(1).get("dataBytes").asInt());
    }

    @Test
    void aSampleSaysThatItIsOne() throws IOException {
        for (int i = 0; i < 40; i++) {
            Files.write(data.resolve("small" + i), new byte[] {(byte) i, 1, 2, 3});
        }
        JsonNode estimate = json("--sample", "0.5", data.toString());
        assertFalse(estimate.get("whole").asBoolean());
        assertEquals(42, estimate.get("files").asInt());
        int read = estimate.get("readFiles").asInt();
        assertTrue(read > 5 && read < 37, () -> read + " files");
        assertEquals(0, run("--sample", "0.5", data.toString()));
        assertTrue(out.toString().contains("or more"), out::toString);
    }

    @Test
    void theSampleOfSomeDataIsTheSameWhereverItLies() throws IOException {
        assertEquals(sampleOf(folder.resolve("here")), sampleOf(folder.resolve("some/where/else")));
    }

    /** Of small files, each of a length of its own: the bytes read tell which they were. */
    private ObjectNode sampleOf(Path place) throws IOException {
        Files.createDirectories(place);
        for (int i = 0; i < 20; i++) {
            Files.write(place.resolve("file" + i), new byte[1 << i]);
        }
        ObjectNode estimate = (ObjectNode) json("--sample", "0.5", place.toString());
        estimate.remove("restores");
        return estimate;
    }

    @Test
    void theIndexDependsOnMemoryAndSsd() throws IOException {
        JsonNode index = json(data.toString()).get("index");
        assertEquals("rocksdb", index.get("indexClass").asText());
        assertEquals(2, index.get("chunks").asInt());
        assertFalse(index.get("ssd").asBoolean());
        assertEquals(
                "chunkstash",
                json("--index-ssd", data.toString())
                        .get("index")
                        .get("indexClass")
                        .asText());
        JsonNode large = json("--ram", "4GB", "--expected-unique", "10TB", data.toString())
                .get("index");
        assertEquals("silo", large.get("indexClass").asText(), large::toString);
        assertFalse(large.get("exact").asBoolean());
        // Chunks of 4 KiB.
        assertEquals((10L << 40) / BLOCK, large.get("chunks").asLong());
        assertEquals(2, run("--ram", "1MB", data.toString()));
        assertEquals(
                0,
                run(
                        "--ram",
                        "4GB",
                        "--index-ssd",
                        "--expected-unique",
                        "10TB",
                        "--hash-type",
                        "SHA256",
                        data.toString()));
        assertTrue(
                out.toString().lines().anyMatch(line -> line.startsWith("index ") && line.contains("chunkstash")),
                out::toString);
        assertTrue(out.toString().contains("one fingerprint in 64"), out::toString);
    }

    @Test
    void theReportNamesWhatMatters() {
        assertEquals(0, run(data.toString()));
        for (String word : List.of("deduplication", "compression", "stored", "--memory-budget=", ">= 10", "plain")) {
            assertTrue(out.toString().contains(word), word + out);
        }
        assertEquals("", err.toString());
    }

    @Test
    void aProgressBarIsShownWhereItIsAskedFor() {
        List<String> command = List.of("estimate", "--progress", data.toString());
        assertEquals(0, sim(command));
        assertTrue(err.toString().contains("0 %"), err::toString);
        assertTrue(err.toString().endsWith("\r\u001b[K"), err::toString);
        assertEquals(3, sim(command, "/proc/self/mem"));
        assertTrue(err.toString().contains("\r\u001b[Ksar-sim: "), err::toString);
    }

    @Test
    void wrongUseIsSaidInALine() {
        for (List<String> arguments : List.of(
                List.<String>of(),
                List.of("--sample", "1.5", "x"),
                List.of("--sample", "0", "x"),
                List.of("--ssd-share", "0", "x"),
                List.of("--memory", "1KB", "x"),
                List.of("--memory-budget", "1MB", "x"),
                List.of("--compress", "zstd:30", "x"),
                List.of("--disk-rate", "0", "x"),
                List.of("--chunking", "MD5", "x"))) {
            assertEquals(2, run(arguments.toArray(String[]::new)), arguments::toString);
            assertEquals(1, err.toString().lines().count(), err::toString);
        }
    }

    @Test
    void aPathThatIsNotThereFails() {
        assertEquals(1, run("/nowhere/at-all"));
        assertEquals("sar-sim: there is no /nowhere/at-all" + System.lineSeparator(), err.toString());
    }

    private JsonNode json(String... arguments) throws IOException {
        return json(List.of("estimate", "--no-progress", "--json", "--hash-type", "SHA256"), arguments);
    }

    private static double value(JsonNode node, String figure) {
        return node.get(figure).get("value").asDouble();
    }

    private int run(String... arguments) {
        return sim(List.of("estimate", "--no-progress"), arguments);
    }
}
