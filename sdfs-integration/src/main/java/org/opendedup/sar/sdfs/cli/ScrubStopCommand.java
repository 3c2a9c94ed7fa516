package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.ScrubControl;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME scrub stop}: stops the running scrub. */
@Command(
        name = "stop",
        description = {
            "Stops the running scrub after the container at hand.",
            "",
            "What it has verified counts: 'scrub start' continues it from there, also after a new mount. It does not",
            "go on by itself before the next time of the schedule.",
            ""
        },
        customSynopsis = "sdfscli VOLUME scrub stop [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {"", "Example:", "  sdfscli pool0 scrub stop"})
final class ScrubStopCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    ScrubCommand parent;

    @Option(names = "--json", description = "Print the progress until now as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        ScrubCommand scrub = Objects.requireNonNull(parent);
        Map<String, Object> report = scrub.ask(ScrubControl.STOP, Map.of());
        scrub.print(json, scrub.named(report), "The scrub is being stopped; 'scrub start' continues it.");
        return ExitCode.OK;
    }
}
