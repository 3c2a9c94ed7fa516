package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.ConfigDirectory;

/** {@code sdfscli VOLUME index} against a daemon without engine. */
@Timeout(60)
class IndexCommandTest {
    @TempDir
    Path folder;

    private final FakeMountService service = new FakeMountService();
    private RunningDaemon daemon;

    @BeforeEach
    void mount() throws Exception {
        daemon = new RunningDaemon(folder, service);
    }

    @AfterEach
    void unmount() throws Exception {
        daemon.close();
    }

    private Map<String, Object> status() throws IOException {
        assertEquals(ExitCode.OK, daemon.cli("index", "status", "--json"), daemon.err());
        return Json.read(daemon.out());
    }

    private String volumeFile() throws IOException {
        return Files.readString(new ConfigDirectory(folder).fileOf("pool0"));
    }

    @Test
    void anotherClassIsKeptInTheVolumeFileForTheNextMount() throws IOException {
        assertEquals("rocksdb", status().get("class"));
        assertFalse(status().containsKey("converting"));
        assertEquals(ExitCode.OK, daemon.cli("index", "convert", "chunkstash"), daemon.err());
        daemon.shows("converting  to chunkstash at the next mount");
        assertEquals("chunkstash", status().get("converting"));
        assertEquals("rocksdb", status().get("class"));
        assertTrue(volumeFile().contains("hashdb-class=\"chunkstash\""));
        assertEquals(ExitCode.FAILED, daemon.cli("index", "convert", "chunkstash"));
        assertTrue(daemon.err().contains("of class chunkstash already from the next mount on"), daemon.err());
        assertEquals(ExitCode.OK, daemon.cli("index", "convert", "rocksdb", "--json"), daemon.err());
        assertFalse(Json.read(daemon.out()).containsKey("converting"));
        assertTrue(volumeFile().contains("hashdb-class=\"rocksdb\""));
    }

    @Test
    void theBytesOnTheSsdAndOnTheDiskAreShown() throws IOException {
        assertEquals(6400, Json.number(status(), "logBytes"));
        Map<String, Object> disk = Json.object(status(), "diskIndex");
        assertEquals(8500, Json.number(disk, "bytes"));
        assertEquals(100, Json.number(disk, "chunks"));
        assertEquals(11 << 20, Json.number(Json.object(status(), "sharedSsd"), "mostCopiesBytes"));
        assertEquals(ExitCode.OK, daemon.cli("index", "status"), daemon.err());
        daemon.shows(" for index and copies: the index has ");
        daemon.shows(", 100 chunks; it was asked for 40 since the mount, and had 30");
    }

    @Test
    void aClassThatIsUnknownOrInUseIsRefused() throws IOException {
        assertEquals(ExitCode.USAGE, daemon.cli("index", "convert", "btree"));
        assertTrue(daemon.err().contains("this release has rocksdb, chunkstash, silo"), daemon.err());
        assertEquals(ExitCode.FAILED, daemon.cli("index", "convert", "rocksdb"));
        assertTrue(daemon.err().contains("of class rocksdb already"), daemon.err());
        assertTrue(volumeFile().contains("hashdb-class=\"rocksdb\""));
    }

    private Map<String, Object> pass() throws IOException {
        return Json.object(status(), "join");
    }

    @Test
    void anExactPassIsShownAndItsResultIsKept() throws IOException {
        assertFalse(status().containsKey("join"));
        assertEquals(5 << 20, Json.object(status(), "estimate").get("storedTwiceBytes"));
        assertEquals(ExitCode.OK, daemon.cli("index", "join", "--wait"), daemon.err());
        daemon.shows("7.00 MiB were stored more than once; 6.00 MiB");
        daemon.shows("duplicates  about 5.00 MiB are stored more than once");
        assertEquals("done", pass().get("state"));
        assertEquals(6 << 20, pass().get("joinedBytes"));
        assertEquals("sdfscli", pass().get("cause"));
    }

    @Test
    void anExactPassThatEndsEarlyIsNoSuccess() throws IOException {
        service.join.endsEarly = true;
        assertEquals(ExitCode.FAILED, daemon.cli("index", "join", "--wait"));
        daemon.shows("ended early");
    }

    @Test
    void anExactPassIsStopped() throws Exception {
        assertEquals(ExitCode.FAILED, daemon.cli("index", "stop"));
        assertTrue(daemon.err().contains("no exact pass is running"), daemon.err());
        service.join.endless = true;
        assertEquals(ExitCode.OK, daemon.cli("index", "join", "--json"), daemon.err());
        assertEquals("running", pass().get("state"));
        assertEquals(ExitCode.FAILED, daemon.cli("index", "join"));
        assertTrue(daemon.err().contains("is running already"), daemon.err());
        assertEquals(ExitCode.OK, daemon.cli("index", "stop"), daemon.err());
        while (pass().get("state").equals("running")) {
            Thread.sleep(10);
        }
        assertEquals("stopped", pass().get("state"));
    }

    @Test
    void anExactPassThatFailsIsTold() throws IOException {
        service.join.failure = new IOException("no room");
        assertEquals(ExitCode.FAILED, daemon.cli("index", "join", "--wait"));
        assertTrue(daemon.err().contains("the exact pass failed: no room"), daemon.err());
        assertEquals("no room", pass().get("error"));
    }
}
