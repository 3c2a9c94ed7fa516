package org.opendedup.sar.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class SelfCheckTest {
    @TempDir
    Path folder;

    private static double reached(List<SelfCheck.Finding> findings, String name) {
        return findings.stream()
                .filter(finding -> finding.name().equals(name))
                .findFirst()
                .orElseThrow()
                .reached();
    }

    @Test
    void theMachineOfTheSarPaperTakesThePublishedTimes() throws IOException {
        List<SelfCheck.Finding> findings = SelfCheck.run(Machine.load("sar"));
        assertTrue(SelfCheck.passed(findings), findings::toString);
        assertEquals(13.29, reached(findings, "disk: random read of 4 KiB"), 0.1329);
        assertEquals(0.060, reached(findings, "SSD: random read of 4 KiB"), 0.0006);
        assertEquals(10, reached(findings, "disk: power, busy"), 0.1);
    }

    @Test
    void aWrongParameterIsFound() throws IOException {
        // The control: one parameter of the disk, then one of the SSD.
        for (String text : List.of(
                MachineText.sarWith("disk.seek.average.ms", "8.5"),
                MachineText.sarWith("disk.revolutions.per.minute", "5400"),
                MachineText.sarWith("ssd.read.latency.ms", "0.0446"))) {
            assertFalse(SelfCheck.passed(SelfCheck.run(MachineText.machine(text))));
        }
    }

    @Test
    void theMeasurementIsTheSameEachTime() throws IOException {
        assertEquals(SelfCheck.run(Machine.load("sar")), SelfCheck.run(Machine.load("sar")));
    }

    @Test
    void theCommandEndsWithOneWhenTheModelIsOff() throws IOException {
        Path wrong = Files.writeString(folder.resolve("wrong"), MachineText.sarWith("disk.overhead.ms", "0.8"));
        StringWriter out = new StringWriter();
        CommandLine command = new CommandLine(new SelfcheckCommand()).setOut(new PrintWriter(out));
        assertEquals(1, command.execute("--json", "--machine", wrong.toString()));
        JsonNode report = new ObjectMapper().readTree(out.toString());
        assertFalse(report.get("passed").asBoolean());
        assertEquals(13.29, report.get("findings").get(0).get("expected").asDouble());
    }

    @Test
    void aFileWithAnUnknownOrMissingOrSillyParameterIsRefusedByName() throws IOException {
        assertMessage("disk.sek.average.ms is no parameter", MachineText.sar() + "disk.sek.average.ms=3\n");
        assertMessage("disk.zones is missing", MachineText.sar().replace("disk.zones=16", ""));
        assertMessage("disk.zones is 0; it must be from 1.0 to 100.0", MachineText.sarWith("disk.zones", "0"));
        assertMessage("disk.zones is 'many', no number", MachineText.sarWith("disk.zones", "many"));
        assertMessage("array.level is 'raid7'; it must be raid0 or raid5", MachineText.sarWith("array.level", "raid7"));
    }

    private static void assertMessage(String expected, String text) {
        IOException refused = assertThrows(IOException.class, () -> MachineText.machine(text));
        assertEquals("test: " + expected, refused.getMessage());
    }

    @Test
    void allMachinesThatAreShippedCanBeRead() throws IOException {
        for (String name : Machine.SHIPPED) {
            Machine machine = Machine.load(name);
            Simulation simulation = new Simulation();
            assertTrue(machine.newArray(simulation).capacityBytes()
                    > machine.disk().capacityBytes() - (1 << 20));
        }
    }
}
