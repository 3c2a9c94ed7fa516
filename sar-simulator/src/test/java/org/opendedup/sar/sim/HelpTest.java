package org.opendedup.sar.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.HelpFaults;
import picocli.CommandLine;

/** Checks the help of every command. */
class HelpTest {
    @Test
    void noDescriptionIsCutAndEveryTextIsFormatted() {
        assertEquals(List.of(), HelpFaults.of(new CommandLine(new SarSim())));
    }
}
