package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.SizeConverter;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME sar resize}: changes the space used on the SSD. */
@Command(
        name = "resize",
        description = {
            "Changes the largest space used on the SSD, now and for later mounts.",
            "",
            "A smaller size is reached in the background: chunks of the least value are demoted, then the log is",
            "cleaned. If the volume is not mounted, only the volume file is changed.",
            ""
        },
        customSynopsis = "sdfscli VOLUME sar resize SIZE [--wait] [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {"", "Example:", "  sdfscli pool0 sar resize 40GB --wait"})
final class SarResizeCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    SarCommand parent;

    @Parameters(
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Largest space to use on the SSD, such as 40GB.")
    long capacityBytes;

    @Option(names = "--wait", description = "Wait until the resulting demotion has ended, and show its progress.")
    boolean wait;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        new ParameterChange(Objects.requireNonNull(parent), json, wait)
                .run(Map.of(VolumeOptions.SSD_CAPACITY.key(), capacityBytes));
        return ExitCode.OK;
    }
}
