package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME sar demote}: demotes chunks from the SSD, once. */
@Command(
        name = "demote",
        description = {
            "Removes copies of chunks from the SSD, in the background.",
            "",
            "The chunks stay on the disk. Parameters do not change: chunks that qualify may be promoted again.",
            ""
        },
        customSynopsis = "sdfscli VOLUME sar demote --below=N | --all [--wait] [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Examples:",
            "  sdfscli pool0 sar demote --below=3         # chunks with 1 or 2 references",
            "  sdfscli pool0 sar demote --all --wait      # empty the SSD"
        })
final class SarDemoteCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    SarCommand parent;

    @ArgGroup(multiplicity = "1")
    Which which = new Which();

    /** Exactly one of the two options. */
    static final class Which {
        @Option(
                names = "--below",
                required = true,
                paramLabel = "N",
                description = "Chunks with fewer than N references; N is 1 or more.")
        int below;

        @Option(names = "--all", required = true, description = "All copies.")
        boolean all;
    }

    @Option(names = "--wait", description = "Wait until the demotion has ended, and show its progress.")
    boolean wait;

    @Option(names = "--json", description = "Print the resulting status as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        SarCommand sar = Objects.requireNonNull(parent);
        Map<String, Object> status = sar.ask(SarControl.DEMOTE, which.all ? Map.of() : Map.of("below", which.below));
        if (wait) {
            status = SarWait.forSweep(sar);
        }
        String what = which.all ? "All copies" : "Copies of chunks with fewer than " + which.below + " references";
        sar.print(json, status, what + (wait ? " are demoted." : " are being demoted in the background."));
        return ExitCode.OK;
    }
}
