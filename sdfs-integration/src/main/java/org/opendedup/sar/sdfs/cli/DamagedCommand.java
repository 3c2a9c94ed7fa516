package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.DamageControl;
import org.opendedup.sar.sdfs.cli.files.TierControl;
import org.opendedup.sar.sdfs.cli.report.DamageItems;
import org.opendedup.sar.sdfs.cli.report.DamageText;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;

/** {@code sdfscli VOLUME damaged}: the files with damaged bytes. */
@Command(
        name = "damaged",
        description = {
            "Lists the files with damaged bytes: all names, the byte ranges, and what is damaged on the disk.",
            "",
            "Shows what was found by reads, scrubs and mounting, also in earlier mounts, and is not healed. To look",
            "for damage that nobody found yet: sdfscli VOLUME scrub start --wait"
        },
        customSynopsis = "sdfscli VOLUME damaged [--json]",
        footer = {
            "Reads all recipes; the volume stays in use. Of a file that changes meanwhile it shows a state that the",
            "file had. Interrupting the command is safe.",
            "",
            "Exit codes:  0 no byte of a file is known to be damaged or lost",
            "             1 failed or was stopped",
            "             2 bytes of files are damaged or lost"
        })
final class DamagedCommand extends VolumeCommand {
    /** Name of the job in messages. */
    static final String JOB = "list of damage";

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        VolumeClient cli = cli();
        boolean asJson = cli.json;
        Map<String, Object> report = new JobClient(cli, DamageControl.COMMAND, JOB, !asJson).run(Map.of());
        if ("failed".equals(report.get("state"))) {
            throw new CommandFailedException(String.valueOf(report.get("error")));
        }
        if (!"done".equals(report.get("state"))) {
            return ExitCode.FAILED;
        }
        Map<String, Object> damage = fetch(cli, Json.number(report, "number"));
        // In no chunk, so not in the list.
        long lost = Json.number(
                cli.ask(TierControl.COMMAND, CommandGroup.request(TierControl.STATUS, Map.of())),
                DamageText.LOST_FILES);
        damage.put(DamageText.LOST_FILES, lost);
        if (asJson) {
            cli.environment().out().println(Json.pretty(damage));
        } else {
            cli.environment().out().print(DamageText.of(cli.name(), damage));
        }
        boolean isClean = Json.number(Json.object(damage, DamageItems.TOTALS), "files") == 0;
        return isClean && lost == 0 ? ExitCode.OK : ExitCode.DAMAGED;
    }

    private static Map<String, Object> fetch(VolumeClient cli, long number) throws IOException, CommandFailedException {
        List<Map<String, Object>> items = new ArrayList<>();
        Map<String, Object> page;
        long from = 0;
        do {
            page = cli.ask(
                    DamageControl.COMMAND, Map.of("action", DamageControl.ITEMS, "number", number, "from", from));
            items.addAll(Json.objects(page, DamageItems.ITEMS));
            from = Json.number(page, DamageItems.NEXT);
        } while (from >= 0);
        return DamageItems.join(Json.object(page, DamageItems.TOTALS), items);
    }
}
