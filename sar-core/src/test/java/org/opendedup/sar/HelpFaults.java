package org.opendedup.sar;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Finds descriptions in the help of commands that are cut or not formatted; for the tests of all front ends. */
public final class HelpFaults {
    private HelpFaults() {}

    /** Returns what is wrong with the help of a command and of its subcommands; empty if nothing is. */
    public static List<String> of(CommandLine command) {
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
            // The list of commands shows only the first line.
            String[] description = below.getCommandSpec().usageMessage().description();
            if (description.length == 0 || !description[0].strip().endsWith(".")) {
                faults.add(below.getCommandSpec().qualifiedName() + " is cut in the list of commands");
            }
            faults.addAll(of(below));
        }
        return faults;
    }

    /** Returns what picocli writes to the error stream when it cannot format a text. */
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
}
