package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.files.TierControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.TierReport;
import org.opendedup.sar.sdfs.cli.report.TierText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME tier attach}: uses a fast tier again that was absent. */
@Command(
        name = "attach",
        description = {
            "Uses the fast tier again that was absent when the volume was mounted.",
            "",
            "Without --new, only the folder of this volume is accepted, with the raw files that are in it. Use that",
            "when the device was not mounted, and is now.",
            "",
            "With --new, an empty folder is made if there is none. Use that only when the device is lost or was",
            "replaced: files that were only on it are lost then, and files that were in chunks as well are as they",
            "were when they were stored. The command names what is lost.",
            ""
        },
        customSynopsis = "sdfscli VOLUME tier attach [--new] [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "The folder is the one of the volume file. To use another: unmount the volume, sdfscli VOLUME sar attach",
            "FOLDER, mount it, and attach. SAR's copies in the same folder are attached by sdfscli VOLUME sar attach.",
            "",
            "Examples:",
            "  mount /ssd && sdfscli pool0 tier attach",
            "  sdfscli pool0 tier attach --new              # the old device is gone for good"
        })
final class TierAttachCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    TierCommand parent;

    @Option(names = "--new", description = "Make an empty folder if there is none.")
    boolean makeNew;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        TierCommand tier = Objects.requireNonNull(parent);
        Map<String, Object> reply = tier.ask(TierControl.ATTACH, Map.of("new", makeNew ? 1 : 0));
        TierReport report = Json.record(reply, TierReport.class);
        String what = Boolean.TRUE.equals(report.attached()) ? "Attached " : "In use already: ";
        tier.print(
                json,
                reply,
                what
                        + report.location()
                        + System.lineSeparator()
                        + TierText.status(tier.cli().name(), report));
        return ExitCode.OK;
    }
}
