package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.OptionSpecs;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sdfscli VOLUME sar set}: changes parameters, at once and for later mounts. */
@Command(
        name = "set",
        description = {
            "Changes parameters of a mounted volume and keeps them in the volume file.",
            "",
            "Chunks that no longer qualify are demoted in the background. If the volume is not mounted, only the",
            "volume file is changed.",
            ""
        },
        customSynopsis = "sdfscli VOLUME sar set OPTION... [--wait] [--json]%n",
        sortOptions = false,
        modelTransformer = OptionSpecs.class,
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Examples:",
            "  sdfscli pool0 sar set --threshold=10 --wait    # demotes chunks with fewer than 10 references",
            "  sdfscli pool0 sar set --policy=cost            # ranks chunks by the disk time that a copy saves",
            "  sdfscli pool0 sar set --enabled=false          # stops promoting; copies are still read"
        })
final class SarSetCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    SarCommand parent;

    @Option(names = "--wait", description = "Wait until the resulting demotion has ended, and show its progress.")
    boolean wait;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        CommandSpec command = Objects.requireNonNull(spec);
        Map<String, Object> changes = OptionSpecs.changes(command);
        if (changes.isEmpty()) {
            throw new ParameterException(command.commandLine(), "name a parameter to set, such as --threshold=10");
        }
        new ParameterChange(Objects.requireNonNull(parent), json, wait).run(changes);
        return ExitCode.OK;
    }
}
