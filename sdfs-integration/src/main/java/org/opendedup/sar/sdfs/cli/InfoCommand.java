package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.DefinitionReport;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME info}: the volume's settings, and whether it is mounted. Needs no daemon. */
@Command(
        name = "info",
        description = "Shows the volume's settings, its folders, and whether it is mounted.",
        customSynopsis = "sdfscli VOLUME info [--json]",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class)
final class InfoCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    VolumeClient parent;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException {
        VolumeClient cli = Objects.requireNonNull(parent);
        Map<String, Object> info = cli.ask(VolumeCommands.INFO).orElse(null);
        if (info == null) {
            info = DefinitionReport.of(cli.volumeFile(), cli.runFiles());
            info.putAll(VolumeClient.NOT_MOUNTED);
        }
        if (json || cli.json) {
            cli.environment().out().println(Json.pretty(info));
        } else {
            cli.environment().out().print(DefinitionReport.table(info));
        }
        return ExitCode.OK;
    }
}
