package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.Spellings;
import org.opendedup.sar.sdfs.cli.command.VolumeStates;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.StatusText;
import org.opendedup.sar.sdfs.cli.upstream.CliSpellings;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** {@code sdfscli}: shows and administers volumes. A new subcommand is added by an entry in {@code subcommands}. */
@Command(
        name = "sdfscli",
        scope = ScopeType.INHERIT,
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        customSynopsis = {
            "sdfscli VOLUME [COMMAND] [--json]",
            "       sdfscli --list [--json]",
            "       sdfscli estimate PATH..."
        },
        description =
                "Shows and administers volumes. Without a command: whether the volume is well, and what to do next.",
        commandListHeading = "%nCommands:%n",
        subcommands = {
            StatusCommand.class,
            InfoCommand.class,
            StatsCommand.class,
            DfCommand.class,
            TopCommand.class,
            FileCommand.class,
            ChunkCommand.class,
            CloneCommand.class,
            DefragCommand.class,
            GcCommand.class,
            ScrubCommand.class,
            VolumeCheckCommand.class,
            DamagedCommand.class,
            HealCommand.class,
            RestoreCommand.class,
            SnapshotCommand.class,
            SendCommand.class,
            ReceiveCommand.class,
            MetadataBackupCommand.class,
            KeyCommand.class,
            SarCommand.class,
            IndexCommand.class,
            TierCommand.class,
            SetCommand.class,
            AddLocationCommand.class,
            EvacuateLocationCommand.class,
            QuotaCommand.class,
            ResumeCommand.class,
            LeaseCommand.class,
            WatchCommand.class,
            AuditCommand.class,
            SupportBundleCommand.class,
            UnmountCommand.class,
            DestroyCommand.class,
            ClusterCommand.class,
            ConsoleCommand.class
        },
        footer = {
            "Environment: SDFS_CONFIG_DIR  folder of the volume files (default /etc/sdfs)",
            "             SDFS_RUN_DIR     folder of the control socket (default BASE/run)",
            "Exit codes:  0 done, or the volume is well",
            "             1 failed, or the volume is degraded",
            "             2 something stored is damaged, or not as it should be",
            "             3 the daemon does not answer   4 not mounted   5 no such volume",
            "             6 restored with all bytes, but not all owners, modes, attributes or special files",
            "             7 wrong passphrase or key, or none",
            "             64 wrong usage",
            "",
            "sdfscli estimate says how a volume would store existing data, before the volume is made; see its --help.",
            "",
            "A volume that OpenDedup SDFS mounts with the plugin has the commands that need no files: docs/PLUGIN.md."
        })
public final class SdfsCli extends VolumeClient implements Callable<Integer>, Spellings {
    /** A command without a volume. The launcher runs it as a program of the simulator's jar, with a larger heap. */
    private static final String ESTIMATE = "estimate";

    @Option(names = "--list", description = "List the known volumes, and whether they are mounted.")
    boolean list;

    /** Returns whether a word is one of the commands: a volume with that name would be ambiguous. */
    static boolean isCommand(String word) {
        return word.equals(ESTIMATE) || command(word).isPresent();
    }

    /** Returns the class of a command. */
    static Optional<Class<?>> command(String word) {
        Command annotation = Objects.requireNonNull(SdfsCli.class.getAnnotation(Command.class));
        return Arrays.<Class<?>>stream(annotation.subcommands())
                .filter(type -> Objects.requireNonNull(type.getAnnotation(Command.class))
                        .name()
                        .equals(word))
                .findFirst();
    }

    public SdfsCli(Environment environment) {
        super(environment);
    }

    public static void main(String[] arguments) {
        Environment environment = Environment.ofProcess();
        System.exit(CommandRunner.run(new SdfsCli(environment), environment, arguments));
    }

    @Override
    public List<String> translated(List<String> arguments, Consumer<String> notes) {
        if (!arguments.isEmpty() && arguments.get(0).equals("help")) {
            List<String> asked = new ArrayList<>(arguments.subList(1, arguments.size()));
            asked.add("--help");
            return asked;
        }
        return SetCommand.withDashes(CliSpellings.translated(arguments, this::volumes, notes));
    }

    private List<String> volumes() {
        try {
            return environment().configDirectory().volumes();
        } catch (IOException e) {
            throw new IllegalArgumentException(FailureText.of(e), e);
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (list && volume != null) {
            throw usage("--list names all volumes: leave out '" + volume + "', or --list");
        }
        if (volume != null) {
            return StatusCommand.show(this, StatusText::brief);
        }
        if (!list) {
            throw usage("name a volume, a volume and a command, or --list");
        }
        List<Map<String, Object>> volumes = new ArrayList<>();
        ConfigDirectory directory = environment().configDirectory();
        int code = ExitCode.OK;
        for (VolumeStates.Known known : VolumeStates.ask(environment())) {
            var entry = new LinkedHashMap<String, Object>();
            entry.put("name", known.name());
            // A daemon of another user may answer anything.
            known.state().forEach(entry::putIfAbsent);
            code = Math.max(code, known.code());
            volumes.add(entry);
        }
        if (json) {
            environment().out().println(Json.pretty(Map.of("volumes", volumes)));
        } else if (volumes.isEmpty()) {
            environment().out().println("No volumes in " + directory.folder() + "; make one with mkfs.sdfs.");
        } else {
            volumes.forEach(entry -> environment()
                    .out()
                    .printf(
                            "%-24s %s%n",
                            entry.get("name"),
                            Printable.line(
                                    entry.containsKey("mountPoint")
                                            ? entry.get("state") + " on " + entry.get("mountPoint")
                                            : String.valueOf(entry.get("state")))));
        }
        return code;
    }
}
