package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.heal.FakeHeal;

/** {@code sdfscli VOLUME heal} against a daemon without engine. */
@Timeout(60)
class HealCommandTest {
    @TempDir
    Path folder;

    private final FakeHeal heal = new FakeHeal();
    private RunningDaemon daemon;

    @BeforeEach
    void mount() throws Exception {
        var service = new FakeMountService();
        service.heal = heal;
        daemon = new RunningDaemon(folder, service);
    }

    @AfterEach
    void unmount() throws Exception {
        daemon.close();
    }

    private void awaitState(String state) throws IOException {
        while (!state.equals(daemon.json("heal", "status").get("state"))) {
            Thread.onSpinWait();
        }
    }

    @Test
    void waitingShowsTheResult() throws IOException {
        assertEquals(ExitCode.OK, daemon.cli("heal", "status"), daemon.err());
        daemon.shows("No pass was asked for since the volume was mounted; 10 chunks are damaged.");
        assertEquals(ExitCode.OK, daemon.cli("heal", "--wait"), daemon.err());
        daemon.shows("10 chunks healed: 0 from their own frames, 0 from the SSD, 10 from other copies, 0 were sound.");
        assertEquals("done", daemon.json("heal", "status").get("state"));
        assertEquals(10, Json.number(daemon.json("heal", "status"), "healedSinceMount"));
    }

    @Test
    void whatStaysDamagedIsAFailureWithReasons() throws IOException {
        heal.unhealed = 3;
        assertEquals(ExitCode.FAILED, daemon.cli("heal", "--wait"), daemon.err());
        daemon.shows("STILL DAMAGED: 3 chunks.");
        daemon.shows("container 7: no copy is known");
        assertEquals(ExitCode.FAILED, daemon.cli("heal", "--wait", "--json"), daemon.err());
        assertEquals(3, Json.number(Json.read(daemon.out()), "unhealedChunks"));
    }

    /** A missing pack marks no chunk: it may come back. */
    @Test
    void whatIsMissingIsAFailure() throws IOException {
        assertEquals(ExitCode.OK, daemon.cli("heal", "--wait"), daemon.err());
        heal.missing = 2;
        assertEquals(ExitCode.FAILED, daemon.cli("heal", "--wait"), daemon.err());
        daemon.shows("MISSING: 2 containers");
        assertEquals(2, Json.number(daemon.json("heal", "status"), "missingContainers"));
    }

    @Test
    void aPassIsWatchedAndStoppedAndTheSameCommandContinuesIt() throws IOException {
        heal.waitsAt = 5;
        assertEquals(ExitCode.OK, daemon.cli("heal"), daemon.err());
        daemon.shows("A pass has begun");
        while (Json.number(daemon.json("heal", "status"), "stepDone") < 5) {
            Thread.onSpinWait();
        }
        assertEquals(ExitCode.OK, daemon.cli("heal", "status"), daemon.err());
        daemon.shows("50 %, damaged chunks: 5 of 10");
        assertEquals(ExitCode.OK, daemon.cli("heal"), daemon.err());
        daemon.shows("A pass is running already, started by sdfscli at ");
        assertEquals(ExitCode.OK, daemon.cli("heal", "stop"), daemon.err());
        awaitState("stopped");
        assertEquals(ExitCode.FAILED, daemon.cli("heal", "stop"));
        assertTrue(daemon.err().contains("no healing is running"), daemon.err());
        heal.waitsAt = -1;
        assertEquals(ExitCode.OK, daemon.cli("heal", "--wait"), daemon.err());
        assertEquals(2, Json.number(daemon.json("heal", "status"), "number"));
    }

    @Test
    void waitingIsNoOptionOfACommand() {
        assertEquals(ExitCode.USAGE, daemon.cli("heal", "--wait", "stop"));
    }
}
