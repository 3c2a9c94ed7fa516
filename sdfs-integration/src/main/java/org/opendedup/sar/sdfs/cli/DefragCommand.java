package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.files.FileControl;
import org.opendedup.sar.sdfs.cli.report.FragmentationReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sdfscli VOLUME defrag}: makes a fragmented file faster to read. */
@Command(
        name = "defrag",
        description = {
            "Makes a fragmented file faster to read.",
            "",
            "Stores chunks again, next to each other, that lie in containers of which the file uses less than half.",
            "Begins with the sparsest container. Prints the figures of 'sdfscli VOLUME file' before and after."
        },
        footer = {
            "This needs space: the old copies stay while other files refer to them. Backups that are written later",
            "refer to the new copies. The file may be read and written meanwhile. Interrupting the command is safe.",
            "",
            "Examples:",
            "  sdfscli pool0 defrag /mnt/pool0/backup-20.tar",
            "  sdfscli pool0 defrag backup-20.tar --share=10 --dry-run     # rewrites nothing"
        })
final class DefragCommand extends VolumeCommand {
    @Parameters(paramLabel = "FILE", description = VolumeClient.PATH_IN_VOLUME)
    Path file = Path.of("");

    @Option(
            names = "--share",
            paramLabel = "PERCENT",
            defaultValue = "5",
            description = "Largest share of the file to rewrite, in percent. Default: ${DEFAULT-VALUE}.")
    double share;

    @Option(names = "--dry-run", description = "Print what would be rewritten, and rewrite nothing.")
    boolean dryRun;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        if (!(share > 0 && share <= 100)) {
            throw usage("a share is more than 0 and at most 100, in percent");
        }
        VolumeClient cli = cli();
        String path = cli.pathInVolume(file);
        Map<String, Object> report = new JobClient(cli, FileControl.DEFRAG, !cli.json)
                .run(Map.of("path", path, "permille", Math.round(share * 10), "dryRun", dryRun ? 1 : 0));
        if ("failed".equals(report.get("state"))) {
            throw new CommandFailedException(String.valueOf(report.get("error")));
        }
        boolean isDone = "done".equals(report.get("state"));
        if (cli.json) {
            var result = new LinkedHashMap<String, Object>();
            result.put("path", path);
            result.put("dryRun", dryRun);
            result.putAll(report);
            result.remove("number");
            print(Json.pretty(result));
        } else if (isDone) {
            print(text(Printable.line(path), Json.record(report, FragmentationReport.Rewritten.class)));
        }
        return isDone ? ExitCode.OK : ExitCode.FAILED;
    }

    private String text(String shown, FragmentationReport.Rewritten done) {
        String before = shown + ", before:\n" + done.before().text() + "\n\n";
        String from = " from " + done.sparseContainers() + " containers";
        if (done.sparseContainers() == 0) {
            return before
                    + "Nothing to do: the file uses fewer than two containers below 50 %, or the share is too small";
        }
        if (dryRun) {
            return before + "Would store " + ByteSize.rounded(done.wantedBytes()) + from + " again";
        }
        return before + shown + ", after:\n" + done.after().text() + "\n\nStored "
                + ByteSize.rounded(done.rewrittenBytes()) + " again, " + done.rewrittenChunks() + " chunks" + from
                + (done.unreadableChunks() == 0
                        ? ""
                        : "; " + done.unreadableChunks()
                                + " chunks cannot be read and stay in place; see the daemon's log");
    }
}
