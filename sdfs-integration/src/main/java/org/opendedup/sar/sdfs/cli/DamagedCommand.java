package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.DamageControl;
import org.opendedup.sar.sdfs.cli.files.TierControl;
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
        Map<String, Object> report = new JobClient(cli, DamageControl.COMMAND, JOB, !cli.json).run(Map.of());
        if ("failed".equals(report.get("state"))) {
            throw new CommandFailedException(String.valueOf(report.get("error")));
        }
        if (!"done".equals(report.get("state"))) {
            return ExitCode.FAILED;
        }
        // In no chunk, so not in the list.
        long lost = Json.number(
                cli.ask(TierControl.COMMAND, CommandGroup.request(TierControl.STATUS, Map.of())), "lostFiles");
        DamageText.Report damage = Json.record(Json.object(report, DamageControl.LIST), DamageText.Report.class)
                .withLost(lost);
        print(Json.values(damage), DamageText.of(cli.name(), damage).stripTrailing());
        return damage.totals().files() == 0 && lost == 0 ? ExitCode.OK : ExitCode.DAMAGED;
    }
}
