package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The control of the tests of help texts: commands with faults, which {@link HelpFaults} must find. */
class HelpFaultsTest {
    @Test
    void cutDescriptionsAreFound() {
        assertEquals(2, HelpFaults.of(new CommandLine(new Wrong())).size());
    }

    @Test
    void aTextThatCannotBeFormattedIsFound() {
        assertNotEquals(List.of(), HelpFaults.of(new CommandLine(new Percent())));
    }

    @Command(name = "wrong", subcommands = Cut.class)
    private static final class Wrong {
        @CommandLine.Option(names = "--x", description = "Half of a")
        boolean unused;
    }

    @Command(
            name = "cut",
            description = {"Begins here and", "ends there."})
    private static final class Cut {}

    @Command(name = "percent", footer = "below 50 % is little")
    private static final class Percent {}
}
