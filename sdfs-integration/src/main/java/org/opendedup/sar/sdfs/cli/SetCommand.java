package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.command.ChangeReport;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.OptionSpecs;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import picocli.CommandLine.Command;

/** {@code sdfscli VOLUME set}: changes options of a volume, mounted or not. */
@Command(
        name = "set",
        description = {
            "Changes options of a volume, mounted or not, and keeps them in the volume file.",
            "",
            "Each option says whether it takes effect at once or at the next mount. Memory is divided and reserved",
            "when the daemon starts, so what depends on it waits for the next mount. A capacity below what the files",
            "use is refused."
        },
        customSynopsis = "sdfscli VOLUME set OPTION... [--json]",
        modelTransformer = OptionSpecs.class,
        footer = {
            "An option may also be written without its dashes. Options that only concern an SSD, collections or the",
            "index are changed by 'sar set', 'gc set' and 'index convert'.",
            "",
            "Examples:",
            "  sdfscli pool0 set --capacity=20TB --maximum-full=98",
            "  sdfscli pool0 set memory=4GB               # from the next mount on",
            "  sdfscli pool0 set --gc-schedule='0 0 3 * * ?' --backup-interval=1h"
        })
final class SetCommand extends VolumeCommand {
    /** Returns the arguments with the dashes of options that were written without them. */
    static List<String> withDashes(List<String> arguments) {
        boolean isSet = arguments.size() > 1 && arguments.get(1).equals("set");
        return isSet
                ? arguments.stream()
                        .map(word -> word.matches("[a-z][a-z-]*=.*") ? "--" + word : word)
                        .toList()
                : arguments;
    }

    @Override
    public Integer call() throws IOException, CommandFailedException {
        Map<String, String> changes = OptionSpecs.texts(Objects.requireNonNull(spec));
        if (changes.isEmpty()) {
            throw usage("name an option to set, such as --capacity=2TB");
        }
        Optional<Map<String, Object>> reply = cli().tryAsk(VolumeCommands.SET, Map.of(VolumeCommands.CHANGES, changes));
        Map<String, Object> report = reply.isPresent() ? reply.get() : changeFile(changes);
        print(named(report), ChangeReport.text(report, reply.isPresent()));
        return ExitCode.OK;
    }

    private Map<String, Object> changeFile(Map<String, String> changes) throws IOException, CommandFailedException {
        var report = new LinkedHashMap<String, Object>();
        new UnmountedVolume(cli()).change(VolumeCommands.SET, Map.of(VolumeCommands.CHANGES, changes), before -> {
            VolumeDefinition after = before.withChanges(changes);
            long capacity = after.values().get(VolumeOptions.CAPACITY);
            if (capacity < before.values().get(VolumeOptions.CAPACITY)) {
                throw new IllegalArgumentException("mount the volume to make its capacity smaller: only then is it "
                        + "known how much of it the files use");
            }
            MkfsCommand.checkMemory(after);
            report.putAll(ChangeReport.of(before, after, changes.keySet()));
            return after;
        });
        return report;
    }
}
