package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.HealControl;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME heal stop}: stops the running pass. */
@Command(
        name = "stop",
        description = {
            "Stops the running pass after the container at hand. What is healed stays healed.",
            "",
            "The volume goes on to heal by itself.",
            ""
        },
        customSynopsis = "sdfscli VOLUME heal stop [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {"", "Example:", "  sdfscli pool0 heal stop"})
final class HealStopCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    HealCommand parent;

    @Option(names = "--json", description = "Print the progress until now as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        HealCommand heal = Objects.requireNonNull(parent);
        Map<String, Object> report = heal.ask(HealControl.STOP);
        heal.print(json, report, "The pass is being stopped; what is healed stays healed.");
        return ExitCode.OK;
    }
}
