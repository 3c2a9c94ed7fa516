package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.LockFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/**
 * {@code sdfscli VOLUME unmount}: unmounts and waits until the volume is closed, which {@code umount} does not.
 */
@Command(
        name = "unmount",
        description = "Unmounts the volume and waits until it is flushed and closed.",
        customSynopsis = "sdfscli VOLUME unmount [--json]",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class)
final class UnmountCommand implements Callable<Integer> {
    private static final long CLOSE_SECONDS_MAX = 600;
    private static final long POLL_MILLIS = 20;

    @ParentCommand
    @Nullable
    SdfsCli parent;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException, CommandFailedException {
        SdfsCli cli = Objects.requireNonNull(parent);
        Map<String, Object> state = cli.ask("unmount").orElseThrow(cli::notMounted);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS_MAX);
        while (LockFile.isHeld(cli.runFiles().lock())) {
            if (System.nanoTime() > deadline) {
                throw new CommandFailedException("unmounted, but process " + state.get("pid") + " is still closing the "
                        + "volume after " + CLOSE_SECONDS_MAX + " s; see its log");
            }
            Thread.sleep(POLL_MILLIS);
        }
        if (json || cli.json) {
            var result = new LinkedHashMap<String, Object>();
            result.put("name", cli.name());
            result.put("mountPoint", state.get("mountPoint"));
            cli.environment().out().println(Json.pretty(result));
        } else {
            cli.environment().out().println("Unmounted " + cli.name() + " from " + state.get("mountPoint") + ".");
        }
        return ExitCode.OK;
    }
}
