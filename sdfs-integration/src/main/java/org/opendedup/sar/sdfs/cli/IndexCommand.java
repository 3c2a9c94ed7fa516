package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.ProgressLine;
import org.opendedup.sar.sdfs.cli.control.IndexControl;
import org.opendedup.sar.sdfs.cli.report.IndexUseText;
import org.opendedup.sar.sdfs.cli.report.JoinText;
import picocli.CommandLine.Command;

/** {@code sdfscli VOLUME index}: shows and converts the fingerprint index, and joins what it missed. */
@Command(
        name = "index",
        description = {
            "Shows the fingerprint index, converts it to another class, and joins what it did not find.",
            "",
            "The index finds stored copies of what is written. It can be rebuilt from the containers at any time.",
            "docs/INDEXES.md says which class suits which hardware.",
            ""
        },
        customSynopsis = "sdfscli VOLUME index COMMAND%n",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        commandListHeading = "%nCommands:%n",
        subcommands = {
            IndexStatusCommand.class,
            IndexConvertCommand.class,
            IndexJoinCommand.class,
            IndexStopCommand.class
        },
        footer = {
            "",
            "Examples:",
            "  sdfscli pool0 index status",
            "  sdfscli pool0 index convert chunkstash --wait    # progress, time left",
            "  sdfscli pool0 index join --wait"
        })
final class IndexCommand extends CommandGroup {
    private static final long POLL_MILLIS = 250;

    IndexCommand() {
        super(IndexControl.COMMAND);
    }

    /** Prints a report with the volume's name, as JSON or as text. */
    void print(boolean asked, Map<String, Object> report) {
        var named = new LinkedHashMap<String, Object>();
        named.put("name", cli().name());
        named.putAll(report);
        print(asked, named, text(report));
    }

    /**
     * Shows the progress of what the daemon does with the index until it has ended.
     *
     * @param first the report to begin with
     * @param line the line that a report is shown as; null if it has ended
     * @return the report of the end
     */
    Map<String, Object> follow(Map<String, Object> first, Function<Map<String, Object>, @Nullable String> line)
            throws IOException, CommandFailedException, InterruptedException {
        var progress = new ProgressLine(cli().environment());
        Map<String, Object> report = first;
        for (String shown = line.apply(report); shown != null; shown = line.apply(report)) {
            progress.show(shown);
            Thread.sleep(POLL_MILLIS);
            report = ask(IndexControl.STATUS, Map.of());
        }
        progress.clear();
        return report;
    }

    private static String text(Map<String, Object> report) {
        Object converting = report.get(IndexControl.CONVERTING);
        Object error = report.get(IndexControl.ERROR);
        boolean complete = Boolean.TRUE.equals(report.get("complete"));
        String state = !Boolean.TRUE.equals(report.get("usable"))
                ? "not usable: duplicates are stored again until it is made anew"
                : complete && converting == null ? "complete" : "being filled";
        return "class       " + report.get(IndexControl.CLASS) + "\nstate       " + state
                + (converting == null ? "" : "\nconverting  to " + converting)
                + (complete && converting == null
                        ? ""
                        : "\nexamined    " + report.get("examinedContainers") + " of " + report.get("containers")
                                + " containers")
                + (error == null ? "" : "\nlast error  " + error)
                + IndexUseText.lines(report)
                + JoinText.lines(report);
    }
}
