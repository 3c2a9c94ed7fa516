package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.VolumeStates;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.daemon.LastEnd;
import org.opendedup.sar.sdfs.cli.daemon.VolumeDaemon;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.StatusReport;
import org.opendedup.sar.sdfs.cli.report.StatusText;
import org.opendedup.sar.sdfs.health.Health;
import picocli.CommandLine.Command;

/** {@code sdfscli VOLUME status}, and shorter {@code sdfscli VOLUME}: whether a volume is well, what to do if not. */
@Command(
        name = "status",
        description = {
            "Shows whether a volume is well, what is wrong and what to do.",
            "",
            "Also shows space and garbage, the last collection, the SSD, the index, and errors since it was mounted.",
            "sdfscli VOLUME without a command is shorter: health, where it is mounted, space, what to do next."
        },
        footer = {
            "Exit codes:  0 well",
            "             1 degraded: it works with a restriction; or it is being opened or closed",
            "             2 damaged: bytes of files are lost or unreadable",
            "             3 the daemon does not answer   4 not mounted   5 no such volume   64 wrong usage"
        })
final class StatusCommand extends VolumeCommand {
    @Override
    public Integer call() throws IOException {
        return show(cli(), StatusText::of);
    }

    /**
     * Shows the status of the volume that the command line names; returns the exit code.
     *
     * @param text formats the status of a mounted volume for people
     */
    static int show(VolumeClient cli, Function<StatusReport, String> text) throws IOException {
        Map<String, Object> report = cli.ask(VolumeCommands.STATUS).orElse(null);
        if (report == null) {
            report = unmounted(cli);
        }
        String health = String.valueOf(report.get("health"));
        if (cli.json) {
            cli.environment().out().println(Json.pretty(report));
        } else if (health.equals(StatusReport.UNKNOWN)) {
            cli.environment().out().print(stateOnly(cli, report));
        } else {
            cli.environment().out().print(text.apply(Json.record(report, StatusReport.class)));
        }
        for (Health each : Health.values()) {
            if (each.toString().equals(health)) {
                return each.exitCode();
            }
        }
        return isMounted(report) ? ExitCode.FAILED : ExitCode.NOT_MOUNTED;
    }

    private static boolean isMounted(Map<String, Object> report) {
        return !Objects.equals(VolumeStates.NOT_MOUNTED.get("state"), report.get("state"));
    }

    private static Map<String, Object> unmounted(VolumeClient cli) throws IOException {
        var report = new LinkedHashMap<String, Object>();
        report.put("name", cli.name());
        report.put("health", StatusReport.UNKNOWN);
        report.putAll(VolumeStates.NOT_MOUNTED);
        if (!cli.isOfPlugin()) {
            new LastEnd(cli.runFiles().lastEnd())
                    .found()
                    .ifPresent(end -> report.put(VolumeDaemon.LAST_END, end.text()));
        }
        return report;
    }

    private static String stateOnly(VolumeClient cli, Map<String, Object> report) throws IOException {
        var text = new StringBuilder(report.get("name") + ": " + report.get("state") + "\n");
        if (report.containsKey(VolumeDaemon.LAST_END)) {
            text.append("  last end   ")
                    .append(report.get(VolumeDaemon.LAST_END))
                    .append('\n');
        }
        if (!isMounted(report)) {
            text.append(
                    cli.isOfPlugin()
                            ? "  to do      Mount it with OpenDedup SDFS to learn whether it is well.\n"
                                    + "             If it is mounted, SDFS's log says why it has no control socket.\n"
                            : "  to do      Mount it to learn whether it is well: mount.sdfs " + cli.name()
                                    + " MOUNTPOINT\n");
        }
        return text.toString();
    }
}
