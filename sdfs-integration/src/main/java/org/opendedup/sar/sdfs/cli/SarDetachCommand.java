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
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME sar detach}: stops using the SSD. */
@Command(
        name = "detach",
        description = {
            "Stops using the SSD.",
            "",
            "When the command returns, the SSD can be unmounted and removed. The volume is read from its disk until",
            "the SSD is attached again, or until the volume is mounted again with the SSD in place.",
            ""
        },
        customSynopsis = "sdfscli VOLUME sar detach [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {"", "Example:", "  sdfscli pool0 sar detach && umount /ssd"})
final class SarDetachCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    SarCommand parent;

    @Option(names = "--json", description = "Print the resulting status as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        SarCommand sar = Objects.requireNonNull(parent);
        Map<String, Object> status = sar.ask(SarControl.DETACH, Map.of());
        sar.print(json, status, "Detached " + status.get("location") + ". The volume reads from the disk.");
        return ExitCode.OK;
    }
}
