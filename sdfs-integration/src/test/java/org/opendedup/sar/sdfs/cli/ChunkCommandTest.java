package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.HashChunk;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.volume.care.FoundChunk;

/** {@code sdfscli VOLUME chunk} against a daemon without engine. */
@Timeout(60)
class ChunkCommandTest {
    @TempDir
    Path folder;

    private final FakeMountService service = new FakeMountService();
    private RunningDaemon daemon;

    @BeforeEach
    void mount() throws Exception {
        service.chunks = List.of(
                new FoundChunk(new HashChunk(ChunkId.of(3, 7), 0, 4096, 12), "aa01", 9, 2, true, false),
                new FoundChunk(new HashChunk(ChunkId.of(4, 8), 0, 8192, 1), "ab02", 9, -1, false, true));
        daemon = new RunningDaemon(folder, service);
    }

    @AfterEach
    void unmount() throws Exception {
        daemon.close();
    }

    @Test
    void aChunkIsShownWithItsCountAndPlace() throws Exception {
        assertEquals(ExitCode.OK, daemon.cli("chunk", "aa"), daemon::err);
        assertEquals("""
                chunk aa01
                  references  12
                  length      4KB
                  place       container 3, slot 7, frame 2, in pack 9
                  on the SSD  yes
                  damaged     no
                """, daemon.out());
        List<Map<String, Object>> found = Json.objects(daemon.json("chunk", "aa01"), "chunks");
        assertEquals(
                Map.of(
                        "fingerprint", "aa01",
                        "references", 12,
                        "lengthBytes", 4096,
                        "container", 3,
                        "slot", 7,
                        "frame", 2,
                        "pack", 9,
                        "onSsd", true,
                        "damaged", false),
                found.get(0));
    }

    @Test
    void itIsSaidThatThereAreMoreThanAreShown() throws Exception {
        assertEquals(false, daemon.json("chunk", "aa").get("more"));
        service.moreChunks = true;
        assertEquals(true, daemon.json("chunk", "aa").get("more"));
        assertEquals(ExitCode.OK, daemon.cli("chunk", "aa"), daemon::err);
        assertTrue(
                daemon.out().endsWith("\n\nMore fingerprints begin with aa: give more digits to see their chunks.\n"));
    }

    @Test
    void damageAndAnUnknownFingerprintAreInTheExitCode() throws Exception {
        assertEquals(ExitCode.DAMAGED, daemon.cli("chunk", "a"));
        assertTrue(daemon.out().contains("chunk aa01") && daemon.out().contains("chunk ab02"), daemon::out);
        assertEquals(ExitCode.FAILED, daemon.cli("chunk", "ac"));
        assertTrue(daemon.err().contains("no chunk is stored whose fingerprint begins with ac"), daemon::err);
        assertEquals(ExitCode.FAILED, daemon.cli("chunk", "ac", "--json"));
        assertEquals(List.of(), Json.objects(Json.read(daemon.out()), "chunks"));
        assertEquals(ExitCode.USAGE, daemon.cli("chunk"));
    }
}
