package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.sdfs.audit.AuditLog;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sdfscli VOLUME audit}: who mounted, restored, unmounted or changed a volume. */
@Command(
        name = "audit",
        description = {
            "Shows who mounted, restored, unmounted or changed a volume: user, process, what, and the result.",
            "",
            "Works also when the volume is not mounted. Reads BASE/log/NAME.audit, one line of JSON for each; of a",
            "volume of OpenDedup SDFS with the plugin, run/NAME.audit in its metadata location."
        },
        footer = {
            "login  the user who logged in, if another one acted, for example through sudo",
            "A umount(8) is shown without a user: the kernel does not tell who called it."
        })
final class AuditCommand extends VolumeCommand {
    @Option(
            names = "--last",
            paramLabel = "N",
            defaultValue = "20",
            description = "Number of lines, at least 1. Default: ${DEFAULT-VALUE}.")
    int last = 20;

    @Override
    public Integer call() throws IOException {
        if (last < 1) {
            throw usage("--last is " + last + "; it must be at least 1");
        }
        List<Map<String, Object>> lines = AuditLog.last(cli().auditLog(), last);
        if (cli().json) {
            print(Json.pretty(named(Map.of("lines", lines))));
        } else if (lines.isEmpty()) {
            print("nothing is recorded about " + cli().name());
        } else {
            lines.forEach(line -> print(text(line)));
        }
        return ExitCode.OK;
    }

    static String text(Map<String, Object> line) {
        var text = new StringBuilder(String.format("%s  %-8s  %s", line.get("at"), user(line), line.get("what")));
        for (String key : List.of("arguments", "mountPoint", "options", "closedInOrder", "result")) {
            Object value = line.get(key);
            if (value != null && !value.equals("done")) {
                text.append("  ").append(key.equals("arguments") ? value : key + "=" + value);
            }
        }
        if (line.get("pid") != null) {
            text.append("  by process ").append(line.get("pid")).append(' ').append(line.get("program"));
        }
        return text.toString();
    }

    private static String user(Map<String, Object> line) {
        Object user = line.getOrDefault("user", "-");
        Object login = line.get("loginUid");
        return login == null || login.equals(line.get("uid")) ? user.toString() : user + " (login " + login + ")";
    }
}
