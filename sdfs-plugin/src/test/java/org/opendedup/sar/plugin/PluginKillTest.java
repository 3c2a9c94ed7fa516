package org.opendedup.sar.plugin;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kills a process with kill -9 while it writes. */
@Timeout(240)
class PluginKillTest {
    private final long seed = Long.getLong("sar.seed", 1);

    @Test
    void whatWasSyncedIsThereAfterAKill(@TempDir Path folder) throws Exception {
        System.out.println("sar.seed=" + seed);
        SplittableRandom random = new SplittableRandom(seed);
        Map<Long, Long> synced = new HashMap<>();
        for (int round = 0; round < 3; round++) {
            Path volume = folder.resolve("volume " + round);
            synced.clear();
            String attributes = round == 1 ? Host.ENCRYPTED : "";
            runAndKill(volume, attributes, 3 + random.nextInt(12), synced, false);
            assertTrue(synced.size() > 0);
            assertEquals(0, missing(volume, attributes, synced), "chunks that were synced and are gone");
        }
    }

    @Test
    void theTestFindsChunksThatWereNotSynced(@TempDir Path folder) throws Exception {
        Map<Long, Long> claimed = new HashMap<>();
        runAndKill(folder, "", 4, claimed, true);
        assertTrue(missing(folder, "", claimed) > 0, "the control must fail");
    }

    /** Runs the writers until they have said a number of lines, kills them, and reads what they said before. */
    private static void runAndKill(Path folder, String attributes, int lines, Map<Long, Long> said, boolean lies)
            throws Exception {
        Process process = (lies
                        ? Host.process(Writers.class, folder.toString(), attributes, "lie")
                        : Host.process(Writers.class, folder.toString(), attributes))
                .start();
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            int seen = 0;
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                if (line.startsWith("synced ")) {
                    note(line, said);
                    seen++;
                    if (seen == lines) {
                        // By its handle: what it said before can still be read.
                        process.toHandle().destroyForcibly();
                    }
                } else if (seen == 0 && line.contains("Exception")) {
                    throw new IOException(line);
                }
            }
        } finally {
            process.destroyForcibly();
            assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        }
    }

    private static void note(String line, Map<Long, Long> said) {
        for (String chunk : line.substring("synced ".length()).split(" ")) {
            int at = chunk.indexOf('@');
            // The last line may be cut: then it says less.
            if (at > 0 && at < chunk.length() - 1) {
                said.put(Long.parseLong(chunk.substring(0, at)), Long.parseLong(chunk.substring(at + 1)));
            }
        }
    }

    private static int missing(Path folder, String attributes, Map<Long, Long> expected) throws Exception {
        SarChunkStore store = new SarChunkStore();
        store.init(Host.config(folder, attributes));
        SarHashesMap map = new SarHashesMap();
        map.init(1000, folder.toString(), 0.01);
        int missing = 0;
        try {
            for (Map.Entry<Long, Long> entry : expected.entrySet()) {
                Chunk chunk = Chunk.of(entry.getKey());
                byte[] found;
                try {
                    found = map.getData(chunk.hash(), entry.getValue());
                } catch (IOException e) {
                    missing++;
                    continue;
                }
                assertArrayEquals(chunk.bytes(), found);
                int references = store.with(engine -> engine.references(entry.getValue()));
                assertEquals(1 + entry.getKey() % 3, references, "chunk " + entry.getKey());
            }
        } finally {
            store.close();
            map.close();
        }
        return missing;
    }
}
