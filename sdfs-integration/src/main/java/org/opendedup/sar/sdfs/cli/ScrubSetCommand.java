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
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sdfscli VOLUME scrub set}: changes the pace of scrubs. */
@Command(
        name = "set",
        description = {
            "Changes the pace of the scrubs of a mounted volume.",
            "",
            "It takes effect at once, also while a scrub is running, and until the volume is unmounted.",
            ""
        },
        customSynopsis = "sdfscli VOLUME scrub set OPTION... [--json]%n",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Examples:",
            "  sdfscli pool0 scrub set --rate=50       # a terabyte takes about 6 hours",
            "  sdfscli pool0 scrub set --rate=0        # as fast as the disk and programs allow",
            "  sdfscli pool0 scrub set --paused=true   # a scheduled one waits too"
        })
final class ScrubSetCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    ScrubCommand parent;

    @Mixin
    PaceOptions pace = new PaceOptions();

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        ScrubCommand scrub = Objects.requireNonNull(parent);
        Map<String, Object> changes = pace.changes();
        if (changes.isEmpty()) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(), "name a value to set, such as --rate=50");
        }
        Map<String, Object> reply = scrub.ask(ScrubControl.SET, changes);
        scrub.print(json, reply, PaceOptions.changed(reply));
        return ExitCode.OK;
    }
}
