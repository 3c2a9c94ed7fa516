package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.HealthChanges.Change;
import org.opendedup.sar.sdfs.cli.HealthChanges.State;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.VolumeStates;
import org.opendedup.sar.sdfs.cli.control.SilentDaemonException;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sdfscli VOLUME watch}: tells each change of a volume's health, until it is ended. */
@Command(
        name = "watch",
        description = {
            "Watches a volume until interrupted, and tells each change of its health, or of what is wrong.",
            "",
            "Prints a line, and runs a command if one is given. A volume that is not mounted, or whose daemon does",
            "not answer, has the health unknown. What comes and goes in less than 10 s is not told. The first look",
            "tells everything but a volume that is well."
        },
        footer = {
            "The command runs through /bin/sh -c, one at a time; what changes meanwhile is told afterwards. It gets",
            "SDFS_VOLUME, SDFS_HEALTH and SDFS_HEALTH_BEFORE (well, degraded, damaged, unknown), SDFS_STATE (mounted,",
            "not mounted, ...), SDFS_FINDINGS (what is wrong and what to do, one a line), and JSON on its input.",
            "",
            "Examples:",
            "  sdfscli pool0 watch",
            "  sdfscli pool0 watch --exec='echo \"$SDFS_FINDINGS\" | mail -s \"$SDFS_VOLUME: $SDFS_HEALTH\" root'"
        })
final class WatchCommand extends VolumeCommand {
    private static final int SECONDS_MAX = 3600;

    /** Looks in a row that must show a change before it is reported. */
    private static final int LOOKS = 2;

    private static final int MILLIS = 1000;

    @Option(names = "--exec", paramLabel = "COMMAND", description = "Run a command for each change.")
    @Nullable
    String command;

    @Option(
            names = "--interval",
            paramLabel = "SECONDS",
            defaultValue = "5",
            description = "Time between two looks in seconds, 1 to 3600. Default: ${DEFAULT-VALUE}.")
    int intervalSeconds = 5;

    @Option(
            names = "--limit",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "Time in seconds after which the command is ended, 1 to 3600. Default: ${DEFAULT-VALUE}.")
    int limitSeconds = 60;

    @Override
    public Integer call() throws IOException, InterruptedException {
        checkSeconds("--interval", intervalSeconds);
        checkSeconds("--limit", limitSeconds);
        var hook = new HealthHook(cli().name(), command == null ? "" : command, Duration.ofSeconds(limitSeconds));
        var changes = new HealthChanges(LOOKS);
        while (!cli().environment().out().checkError()) {
            Optional<Change> change = changes.look(look());
            if (change.isPresent()) {
                tell(hook, change.get());
            }
            Thread.sleep((long) intervalSeconds * MILLIS);
        }
        // The reader of the output has ended.
        return ExitCode.FAILED;
    }

    private void checkSeconds(String option, int seconds) {
        if (seconds < 1 || seconds > SECONDS_MAX) {
            throw usage(option + " is " + seconds + " s; it must be from 1 to " + SECONDS_MAX);
        }
    }

    /** A watch must survive whatever is wrong: that is what it is for. */
    private State look() {
        Map<String, Object> unknown = new LinkedHashMap<>();
        try {
            return State.of(cli().ask(VolumeCommands.STATUS).orElse(VolumeStates.NOT_MOUNTED));
        } catch (SilentDaemonException e) {
            unknown.put("state", "does not answer");
        } catch (IOException e) {
            unknown.put("state", "unknown: " + FailureText.of(e));
        }
        return State.of(unknown);
    }

    private void tell(HealthHook hook, Change change) throws IOException, InterruptedException {
        Map<String, Object> report = hook.report(change);
        print(cli().json ? Json.line(report) : text(report, change));
        if (command != null) {
            String wrong = hook.run(change);
            if (!wrong.isEmpty()) {
                cli().environment().err().println("the command " + wrong + ": " + command);
                cli().environment().err().flush();
            }
        }
    }

    private String text(Map<String, Object> report, Change change) {
        String state = change.now().state().equals("mounted")
                ? ""
                : ", " + change.now().state();
        String findings = HealthHook.findings(change);
        return report.get("at") + " " + cli().name() + ": "
                + change.now().health() + state + ", before "
                + change.before().health()
                + (findings.isEmpty() ? "" : "\n  " + findings.replace("\n", "\n  "));
    }
}
