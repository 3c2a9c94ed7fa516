package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.HealControl;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME heal}: heals damaged chunks from copies. */
@Command(
        name = "heal",
        description = {
            "Heals damaged chunks from copies, wherever their right bytes are found.",
            "",
            "Looks in the readable rest of their frame, on the SSD, and for another stored copy of the same content.",
            "",
            "Every file that refers to a healed chunk is whole again, at once. Nothing is deleted; a chunk without a",
            "copy stays as it is. The volume also heals by itself, some seconds after damage was found and after",
            "damaged content was written again.",
            ""
        },
        customSynopsis = "sdfscli VOLUME heal [--wait] [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Without --wait, the pass goes on in the daemon; the same command with --wait then waits for it. It waits",
            "for the end of a running garbage collection, and of restores to other file systems.",
            "",
            "Exit codes:  0 no chunk is marked as damaged, or without --wait: begun. Missing packs",
            "               are not healed: 'damaged' lists their files",
            "             1 failed, or some chunks stay damaged",
            "             2 wrong usage",
            "",
            "Examples:",
            "  sdfscli pool0 heal --wait",
            "  sdfscli pool0 heal --wait --json | jq .unhealed"
        })
final class HealCommand implements Callable<Integer> {
    /** Time between two looks whether the pass has ended, in milliseconds. */
    private static final long PAUSE_MS = 200;

    /** Most reasons that are printed; with --json, all of them. */
    private static final int MAX_REASONS = 20;

    @ParentCommand
    @Nullable
    SdfsCli parent;

    @Option(names = "--wait", description = "Wait for the result.")
    boolean wait;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        SdfsCli cli = Objects.requireNonNull(parent);
        Map<String, Object> report = ask(cli, HealControl.START);
        if (!wait) {
            print(
                    cli,
                    report,
                    "A pass has begun; it runs in the daemon. Its result: sdfscli " + cli.name() + " heal --wait");
            return ExitCode.OK;
        }
        while (Boolean.TRUE.equals(report.get("running"))) {
            Thread.sleep(PAUSE_MS);
            report = ask(cli, HealControl.STATUS);
        }
        if (report.containsKey("error")) {
            throw new CommandFailedException("the healing failed: " + report.get("error"));
        }
        print(cli, report, text(report));
        return Json.number(report, "unhealedChunks") == 0 ? ExitCode.OK : ExitCode.FAILED;
    }

    private static Map<String, Object> ask(SdfsCli cli, String action) throws IOException, CommandFailedException {
        return cli.ask(HealControl.COMMAND, Map.of("action", action));
    }

    private static String text(Map<String, Object> report) {
        long healed = Json.number(report, "healedChunks");
        long unhealed = Json.number(report, "unhealedChunks");
        var text = new StringBuilder();
        if (healed == 0 && unhealed == 0) {
            return "No chunk is marked as damaged.";
        }
        text.append(healed).append(" chunks healed: ");
        text.append(Json.number(report, "fromFrame")).append(" from their own frames, ");
        text.append(Json.number(report, "fromSsd")).append(" from the SSD, ");
        text.append(Json.number(report, "fromCopies")).append(" from other copies, ");
        text.append(Json.number(report, "sound")).append(" were sound.");
        if (unhealed > 0) {
            text.append("\nSTILL DAMAGED: ").append(unhealed).append(" chunks.");
            List<Map<String, Object>> all = Json.objects(report, "unhealed");
            all.stream()
                    .limit(MAX_REASONS)
                    .forEach(each -> text.append("\n  container ")
                            .append(each.get("container"))
                            .append(": ")
                            .append(each.get("reason")));
            if (all.size() > MAX_REASONS) {
                text.append("\n  and more: --json shows all");
            }
            text.append("\nWrite the same content again, under any name, or attach the SSD that has copies.");
        }
        return text.toString();
    }

    private void print(SdfsCli cli, Map<String, Object> report, String text) {
        var named = new LinkedHashMap<String, Object>();
        named.put("name", cli.name());
        named.putAll(report);
        cli.environment().out().println(json || cli.json ? Json.pretty(named) : text);
    }
}
