package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.daemon.DaemonCommand;
import org.opendedup.sar.sdfs.cli.daemon.FuseMountService;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The help of every command, read whole. */
class HelpTest {
    @Test
    void noDescriptionIsCutAndEveryTextIsFormatted() {
        var environment = new Environment(Map.of(), nowhere(), nowhere());
        for (Object command : List.of(
                new SdfsCli(environment),
                new MkfsCommand(environment, config -> {}),
                new MountCommand(environment, new FuseMountService(), DaemonCommand.class),
                new MountHelper(environment, new FuseMountService(), DaemonCommand.class))) {
            assertEquals(List.of(), faults(new CommandLine(command)));
        }
    }

    @Test
    void theControlIsFound() {
        assertEquals(2, faults(new CommandLine(new Wrong())).size());
        assertNotEquals(List.of(), faults(new CommandLine(new Percent())));
    }

    /** What is wrong with the help of a command and those below it. */
    static List<String> faults(CommandLine command) {
        var faults = new ArrayList<String>();
        CommandSpec spec = command.getCommandSpec();
        String complaints = complaintsAbout(command);
        if (!complaints.isEmpty()) {
            faults.add(spec.qualifiedName() + ": " + complaints);
        }
        for (OptionSpec option : spec.options()) {
            String text = String.join(" ", option.description()).strip();
            if (!text.endsWith(".")) {
                faults.add(spec.qualifiedName() + " " + option.longestName() + " ends with '" + text + "'");
            }
        }
        for (CommandLine below : command.getSubcommands().values()) {
            // The list of commands has the first line, and nothing behind it.
            String[] description = below.getCommandSpec().usageMessage().description();
            if (description.length == 0 || !description[0].strip().endsWith(".")) {
                faults.add(below.getCommandSpec().qualifiedName() + " is cut in the list of commands");
            }
            faults.addAll(faults(below));
        }
        return faults;
    }

    /** picocli writes to the error stream what it cannot format. */
    private static String complaintsAbout(CommandLine command) {
        var said = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            String help = command.getUsageMessage();
            return help.contains("%%") || help.contains("%n") ? help : said.toString(StandardCharsets.UTF_8);
        } finally {
            System.setErr(before);
        }
    }

    private static PrintWriter nowhere() {
        return new PrintWriter(new StringWriter());
    }

    @Command(name = "wrong", subcommands = Cut.class)
    private static final class Wrong {
        @CommandLine.Option(names = "--x", description = "Half of a")
        boolean option;
    }

    @Command(
            name = "cut",
            description = {"Begins here and", "ends there."})
    private static final class Cut {}

    @Command(name = "percent", footer = "below 50 % is little")
    private static final class Percent {}
}
