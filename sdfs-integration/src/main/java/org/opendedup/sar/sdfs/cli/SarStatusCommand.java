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
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.SarText;
import org.opendedup.sar.sdfs.jmx.SarFigures;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME sar status}: everything about the SSD of a mounted volume. */
@Command(
        name = "status",
        description = "Shows the SSD: state, space, memory, promotions, demotions, reads, log.",
        customSynopsis = "sdfscli VOLUME sar status [--json]",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "States: none       the volume was mounted without an SSD",
            "        online     copies are read and written",
            "        read-only  copies are read; none are written, because the SSD accepts no writes",
            "        suspended  the SSD answers too slowly; it is tried again at intervals",
            "        detached   removed, or missing when the volume was mounted; attach starts using it again",
            "        failed     too many accesses failed; attach it again, or another SSD",
            "All files can be read and written in every state.",
            "",
            "Examples:",
            "  sdfscli pool0 sar status",
            "  sdfscli pool0 sar status --json | jq .reads.ssdHits"
        })
final class SarStatusCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    SarCommand parent;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        SarCommand sar = Objects.requireNonNull(parent);
        Map<String, Object> status = sar.ask(SarControl.STATUS, Map.of());
        sar.print(json, status, SarText.status(Json.record(status, SarFigures.class)));
        return ExitCode.OK;
    }
}
