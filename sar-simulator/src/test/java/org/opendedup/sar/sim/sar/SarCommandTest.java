package org.opendedup.sar.sim.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sim.CommandTest;

class SarCommandTest extends CommandTest {
    private static final List<String> SHORT =
            List.of("sar", "--synthetic", "homes", "--warm", "1", "--window", "10:00-12:00", "--ssd", "20MB", "--json");
    private static final List<String> NATIVE = List.of(
            "sar", "--synthetic", "homes", "--warm=0", "--window", "10:00-12:00", "--systems", "native", "--json");

    @TempDir
    Path folder;

    private int run(String... arguments) {
        return sim(List.of("sar"), arguments);
    }

    @Test
    void allSystemsServeTheSameRequestsAndASyntheticTraceSaysSo() throws IOException {
        JsonNode report = json(SHORT);
        assertTrue(report.get("synthetic").asBoolean());
        assertTrue(report.get("trace").asText().startsWith("synthetic, like homes"));
        assertEquals(7, report.get("calibration").size());
        assertEquals(6, report.get("systems").size());
        for (JsonNode row : report.get("systems")) {
            JsonNode reads = row.get("result").get("reads");
            assertEquals(report.at("/systems/0/result/reads/requests"), reads.get("requests"));
            assertTrue(reads.get("meanMs").asDouble() > 0);
        }
        double dedupe = report.at("/systems/1/result/reads/meanMs").asDouble();
        JsonNode sar = report.at("/systems/4");
        assertEquals("sar", sar.get("system").asText());
        assertEquals(
                dedupe / sar.at("/result/reads/meanMs").asDouble(),
                sar.get("speedupOverDedupe").asDouble(),
                1e-9);
        assertTrue(sar.at("/result/ssdShareOfBytes").asDouble() > 0);
        assertEquals(12, sar.at("/result/series").size());
    }

    @Test
    void aSlowerReplayHasShorterQueues() throws IOException {
        double normal = json(NATIVE).at("/systems/0/result/reads/meanMs").asDouble();
        double fast = json(NATIVE, "--time-scale", "0.2")
                .at("/systems/0/result/reads/meanMs")
                .asDouble();
        assertTrue(fast > normal, () -> fast + " and " + normal);
    }

    @Test
    void whereWritesCostNothingReadsTakeLess() throws IOException {
        JsonNode all = json(NATIVE).at("/systems/0/result");
        JsonNode reads = json(NATIVE, "--reads-only").at("/systems/0/result");
        assertEquals(all.at("/reads/requests"), reads.at("/reads/requests"));
        assertTrue(
                reads.at("/reads/meanMs").asDouble() < all.at("/reads/meanMs").asDouble());
        assertTrue(all.at("/writes/requests").asInt() > 0);
        assertEquals(0, reads.at("/writes/requests").asInt());
    }

    @Test
    void aTraceOfOnesOwnIsReplayed() throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 50; i++) {
            text.append(i * 20_000_000L)
                    .append(" 7 httpd ")
                    .append(8000 * (i % 10))
                    .append(" 8 R 8 1 ")
                    .append(String.format("%032x", (i % 10 + 1L) << 60))
                    .append('\n');
        }
        Path file = Files.writeString(folder.resolve("trace"), text + "rubbish\n");
        assertEquals(
                0,
                run(
                        "--trace",
                        file.toString(),
                        "--warm",
                        "0",
                        "--ssd",
                        "1MB",
                        "--csv",
                        folder.resolve("csv").toString()));
        assertFalse(out.toString().contains("synthetic"));
        assertTrue(out.toString().contains("51 lines, 1 bad"), out::toString);
        assertEquals(7, Files.readAllLines(folder.resolve("csv/systems.csv")).size());
        assertTrue(Files.readString(folder.resolve("csv/series.csv")).contains("\ntrace,cache-lba,1048576,0.0,50,"));
        assertFalse(out.toString().contains(folder.toString()), out::toString);
    }

    @Test
    void whatCantBeIsRefusedWithWhatIsAllowed() {
        assertEquals(2, run("--synthetic", "usr"));
        assertEquals(2, run("--synthetic", "mail", "--window", "12:00-11:00"));
        assertTrue(err.toString().contains("'12:00-11:00' is not a part of a day"), err::toString);
        assertEquals(2, run("--synthetic", "mail", "--systems", "magic"));
        assertTrue(err.toString().contains("the systems are native, dedupe, cache-lba"), err::toString);
        assertEquals(2, run("--synthetic", "mail", "--ssd", "much"));
        assertEquals(2, run("--trace", "x", "--synthetic", "mail"));
        assertEquals(2, run("--trace", "x", "--ssd", "1MB", "--seed", "2"));
        assertEquals(2, run("--synthetic", "mail", "--keep-duplicates"));
        assertEquals(2, run());
    }
}
