package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.OptionSpecs;
import org.opendedup.sar.sdfs.cli.command.SizeConverter;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.cli.report.ExplanationReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.SarText;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.sdfs.jmx.SarFigures;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sdfscli VOLUME sar}: the SSD of a volume. {@link SarControl} answers its requests in the daemon. */
@Command(
        name = "sar",
        description = "Shows and controls the SSD of a volume.",
        subcommands = SarCommand.Setting.class,
        footer = {
            "To give a volume an SSD, make the volume with mkfs.sdfs --sar-ssd-location=FOLDER",
            "--sar-ssd-capacity=SIZE. Or, while it is not mounted, run sdfscli VOLUME sar attach FOLDER",
            "--capacity=SIZE, mount it, and run sar attach. The SSD holds only copies of chunks: losing it costs",
            "speed and no data."
        })
final class SarCommand extends CommandGroup {
    private static final String WAIT = "Wait until the resulting demotion has ended, and show its progress.";

    SarCommand() {
        super(SarControl.COMMAND);
    }

    /**
     * Asks the daemon; empty if the volume is not mounted, and has a volume file that can be changed instead.
     *
     * @throws CommandFailedException if the volume is not mounted, and its file is that of another program
     */
    private Optional<Map<String, Object>> tryAsk(String action, Map<String, ?> arguments)
            throws IOException, CommandFailedException {
        return cli().isOfPlugin()
                ? Optional.of(ask(action, arguments))
                : cli().tryAsk(SarControl.COMMAND, request(action, arguments));
    }

    @Command(
            description = "Shows the SSD: state, space, memory, promotions, demotions, reads, log.",
            footer = {
                "States: none       the volume was mounted without an SSD",
                "        online     copies are read and written",
                "        read-only  copies are read; none are written, because the SSD accepts no writes",
                "        suspended  the SSD answers too slowly; it is tried again at intervals",
                "        detached   removed, or missing when the volume was mounted; attach starts using it again",
                "        failed     too many accesses failed; attach it again, or another SSD",
                "All files can be read and written in every state.",
                "",
                "Examples:",
                "  sdfscli pool0 sar status",
                "  sdfscli pool0 sar status --json | jq .reads.ssdHits"
            })
    void status() throws IOException, CommandFailedException {
        Map<String, Object> status = ask(SarControl.STATUS, Map.of());
        print(status, SarText.status(Json.record(status, SarFigures.class)));
    }

    @Command(
            description = {
                "Shows which of a file's chunks are on the SSD, why the others are not, and the time that is "
                        + "saved.",
                "",
                "The time is that of a sequential read with nothing in memory. Reads the file's recipe, not its data."
            },
            footer = {
                "Examples:",
                "  sdfscli pool0 sar explain /mnt/pool0/vm/debian.img",
                "  sdfscli pool0 sar explain vm/debian.img --chunks     # from the volume's root; each chunk",
                "  sdfscli pool0 sar explain vm/debian.img --chunks --json | jq '.list[] | "
                        + "select(.verdict==\"long-run\")'"
            })
    void explain(
            @Parameters(paramLabel = "FILE", description = VolumeClient.PATH_IN_VOLUME) Path file,
            @Option(names = "--chunks", description = "List the file's chunks as well.") boolean listChunks)
            throws IOException, CommandFailedException {
        String path = cli().pathInVolume(file);
        var result = new LinkedHashMap<String, Object>();
        result.put("path", path);
        result.putAll(ask(SarControl.EXPLAIN, Map.of("path", path)));
        if (cli().json) {
            if (listChunks) {
                var all = new ArrayList<Map<String, Object>>();
                forEachReply(path, all::addAll);
                result.put("list", all);
            }
            print(Json.pretty(result));
            return;
        }
        print(Json.record(result, ExplanationReport.class).summary(path));
        if (listChunks) {
            print(ExplanationReport.HEADER);
            forEachReply(
                    path,
                    chunks -> chunks.forEach(chunk -> print(
                            Json.record(chunk, ExplanationReport.Chunk.class).line())));
        }
    }

    private void forEachReply(String path, Consumer<List<Map<String, Object>>> consumer)
            throws IOException, CommandFailedException {
        for (long from = 0; from >= 0; ) {
            Map<String, Object> reply = ask(SarControl.CHUNKS, Map.of("path", path, "from", from));
            consumer.accept(Json.objects(reply, "chunks"));
            from = ((Number) reply.getOrDefault("next", -1)).longValue();
        }
    }

    /** Exactly one of the two options. */
    static final class Which {
        @Option(
                names = "--below",
                required = true,
                paramLabel = "N",
                description = "Chunks with fewer than N references; N is 1 or more.")
        int below;

        @Option(names = "--all", required = true, description = "All copies.")
        boolean all;
    }

    @Command(
            description = {
                "Removes copies of chunks from the SSD, in the background.",
                "",
                "The chunks stay on the disk. Parameters do not change: chunks that qualify may be promoted again."
            },
            customSynopsis = "sdfscli VOLUME sar demote --below=N | --all [--wait] [--json]",
            footer = {
                "Examples:",
                "  sdfscli pool0 sar demote --below=3         # chunks with 1 or 2 references",
                "  sdfscli pool0 sar demote --all --wait      # empty the SSD"
            })
    void demote(
            @ArgGroup(multiplicity = "1") Which which,
            @Option(names = "--wait", description = "Wait until the demotion has ended, and show its progress.")
                    boolean wait)
            throws IOException, CommandFailedException, InterruptedException {
        Map<String, Object> status = ask(SarControl.DEMOTE, which.all ? Map.of() : Map.of("below", which.below));
        if (wait) {
            status = swept();
        }
        String what = which.all ? "All copies" : "Copies of chunks with fewer than " + which.below + " references";
        print(status, what + (wait ? " are demoted." : " are being demoted in the background."));
    }

    /** Waits for a sweep of the Map table to end; returns the status then. */
    private Map<String, Object> swept() throws IOException, CommandFailedException, InterruptedException {
        return follow(ask(SarControl.STATUS, Map.of()), status -> {
            Map<String, Object> demotion = Json.object(status, "demotion");
            return Boolean.TRUE.equals(demotion.get("running"))
                    ? new Stage("entries", Json.number(demotion, "examined"), Json.number(demotion, "toExamine"))
                    : null;
        });
    }

    @Command(
            description = {
                "Stops using the SSD.",
                "",
                "When the command returns, the SSD can be unmounted and removed. The volume is read from its disk "
                        + "until",
                "the SSD is attached again, or until the volume is mounted again with the SSD in place."
            },
            footer = {"Example:", "  sdfscli pool0 sar detach && umount /ssd"})
    void detach() throws IOException, CommandFailedException {
        Map<String, Object> status = ask(SarControl.DETACH, Map.of());
        print(status, "Detached " + status.get("location") + ". The volume reads from the disk.");
    }

    @Command(
            description = {
                "Changes the largest space used on the SSD, now and for later mounts.",
                "",
                "A smaller size is reached in the background: chunks of the least value are demoted, then the log is",
                "cleaned. If the volume is not mounted, only the volume file is changed."
            },
            footer = {"Example:", "  sdfscli pool0 sar resize 40GB --wait"})
    void resize(
            @Parameters(
                            paramLabel = "SIZE",
                            converter = SizeConverter.class,
                            description = "Largest space to use on the SSD, such as 40GB.")
                    long capacityBytes,
            @Option(names = "--wait", description = WAIT) boolean wait)
            throws IOException, CommandFailedException, InterruptedException {
        change(Map.of(VolumeOptions.SSD_CAPACITY.key(), capacityBytes), wait);
    }

    /** {@code sdfscli VOLUME sar set}; a class, because options of the volume are added to it. */
    @Command(
            name = "set",
            description = {
                "Changes parameters of a mounted volume and keeps them in the volume file.",
                "",
                "Chunks that no longer qualify are demoted in the background. If the volume is not mounted, only the",
                "volume file is changed."
            },
            customSynopsis = "sdfscli VOLUME sar set OPTION... [--wait] [--json]",
            modelTransformer = OptionSpecs.class,
            footer = {
                "Examples:",
                "  sdfscli pool0 sar set --policy=cost            # ranks chunks by the disk time that a copy saves",
                "  sdfscli pool0 sar set --policy=reference-count --threshold=10 --wait",
                "                                                 # demotes chunks with fewer than 10 references",
                "  sdfscli pool0 sar set --enabled=false          # stops promoting; copies are still read"
            })
    static final class Setting implements Callable<Integer> {
        @Spec
        @Nullable
        CommandSpec spec;

        @ParentCommand
        @Nullable
        SarCommand parent;

        @Option(names = "--wait", description = WAIT)
        boolean wait;

        @Override
        public Integer call() throws IOException, CommandFailedException, InterruptedException {
            CommandSpec command = Objects.requireNonNull(spec);
            Map<String, Object> changes = OptionSpecs.changes(command);
            if (changes.isEmpty()) {
                throw new ParameterException(command.commandLine(), "name a parameter to set, such as --policy=cost");
            }
            Objects.requireNonNull(parent).change(changes, wait);
            return ExitCode.OK;
        }
    }

    /**
     * Changes parameters. If the volume is mounted, its daemon changes them and the volume file; otherwise only the
     * file is changed.
     *
     * @param untilDemoted whether to wait for the demotion that follows
     */
    private void change(Map<String, Object> changes, boolean untilDemoted)
            throws IOException, CommandFailedException, InterruptedException {
        var reply = tryAsk(SarControl.SET, Map.of("changes", changes));
        if (reply.isEmpty()) {
            changeFile(changes);
            return;
        }
        var result = new LinkedHashMap<String, Object>(reply.get());
        if (untilDemoted) {
            result.put("status", swept());
        }
        report(result, remark(String.valueOf(Json.object(result, "status").get("state")), untilDemoted));
    }

    private String remark(String state, boolean untilDemoted) {
        return switch (state) {
            case "none" -> "The volume has no SSD: takes effect when it has one.";
            case "detached", "failed" ->
                "The SSD is " + state + ": chunks that no longer qualify are demoted when it is attached.";
            default ->
                untilDemoted
                        ? "Chunks that no longer qualified are demoted."
                        : "Chunks that no longer qualify are being demoted in the background; see sdfscli "
                                + cli().name() + " sar status.";
        };
    }

    private void changeFile(Map<String, Object> changes) throws IOException, CommandFailedException {
        var before = new LinkedHashMap<String, Object>();
        var after = new LinkedHashMap<String, Object>();
        new UnmountedVolume(cli())
                .change(SarControl.COMMAND, request(SarControl.SET, Map.of("changes", changes)), definition -> {
                    var settings = definition.sar();
                    before.putAll(SarSettings.parameters(settings.hot()));
                    var changed = settings.with(changes);
                    after.putAll(SarSettings.parameters(changed.hot()));
                    return definition.withSar(changed);
                });
        report(Map.of("before", before, "after", after), "Not mounted: takes effect at the next mount.");
    }

    private void report(Map<String, Object> reply, String remark) {
        String text = SarText.changes(Json.object(reply, "before"), Json.object(reply, "after"));
        boolean changed = !text.isEmpty();
        print(reply, changed ? (text + remark).strip() : "Nothing changed: the parameters already have these values.");
    }

    @Command(
            description = {
                "Starts using an SSD.",
                "",
                "FOLDER may be missing, and is then made; or empty; or one that this volume used before, whose copies",
                "are then used again. Another folder than before is kept in the volume file. If the volume is not",
                "mounted, only the volume file is changed. The first SSD of a volume is named while it is not mounted.",
                "Mounting never makes a folder and never fills an empty one, because its disk may not be mounted; "
                        + "attach",
                "it in that case."
            },
            footer = {
                "Examples:",
                "  sdfscli pool0 sar attach                             # the SSD of the volume file",
                "  sdfscli pool0 sar attach /ssd2/pool0                 # another SSD",
                "  sdfscli pool0 sar attach /ssd/pool0 --capacity=20GB  # the first SSD; then mount, and attach"
            })
    void attach(
            @Parameters(
                            arity = "0..1",
                            paramLabel = "FOLDER",
                            description = "Folder on the SSD. Default: the one that the volume file names.")
                    @Nullable
                    Path location,
            @Option(
                            names = "--capacity",
                            paramLabel = "SIZE",
                            converter = SizeConverter.class,
                            description =
                                    "Largest space to use on the first SSD of a volume. Refused if it has one; see"
                                            + " resize.")
                    @Nullable
                    Long capacityBytes)
            throws IOException, CommandFailedException {
        Path folder = location == null ? null : location.toAbsolutePath().normalize();
        if (capacityBytes != null) {
            nameFirst(folder, capacityBytes);
            return;
        }
        var reply = tryAsk(SarControl.ATTACH, folder == null ? Map.of() : Map.of("location", folder.toString()));
        if (reply.isEmpty()) {
            attachInFile(folder, null);
        } else {
            Map<String, Object> status = reply.get();
            print(status, "Attached " + status.get("location") + ": " + status.get("state") + ".");
        }
    }

    private void nameFirst(@Nullable Path folder, long capacity) throws IOException, CommandFailedException {
        if (folder == null) {
            throw usage("attach", "--capacity needs FOLDER: that of the first SSD");
        }
        cli().requireFiles();
        var status = tryAsk(SarControl.STATUS, Map.of());
        if (status.isPresent()) {
            throw new CommandFailedException(
                    "none".equals(status.get().get("state")) ? SarSettings.NO_SSD : hasOne(cli().name()));
        }
        attachInFile(folder, capacity);
    }

    private static String hasOne(String volume) {
        return "the volume has an SSD: leave out --capacity; to change its size: sdfscli " + volume
                + " sar resize SIZE";
    }

    private void attachInFile(@Nullable Path folder, @Nullable Long capacity)
            throws IOException, CommandFailedException {
        if (folder == null) {
            throw cli().notMounted();
        }
        String volume = cli().name();
        var notes = new StringBuilder();
        var request = request(SarControl.ATTACH, Map.of("location", folder.toString()));
        if (capacity != null) {
            request.put("capacity", capacity);
        }
        new UnmountedVolume(cli()).change(SarControl.COMMAND, request, definition -> {
            notes.append(note(definition, folder));
            return attached(volume, definition, folder, capacity);
        });
        print(
                Map.of("location", folder.toString()),
                "The volume file names " + folder + " now. After mounting, start using a new folder: sdfscli " + volume
                        + " sar attach" + notes);
    }

    /** Raw files are found in the folder that the volume file names, and nowhere else. */
    private static String note(VolumeDefinition definition, Path folder) {
        Path before = definition.sar().ssdLocation();
        return !definition.raw().isEnabled() || folder.equals(before)
                ? ""
                : String.format(
                        "%nFiles that lie on the fast tier only are still in %s. If they were not migrated before the"
                                + " unmount, name that folder again, and migrate them.",
                        before);
    }

    private static VolumeDefinition attached(
            String volume, VolumeDefinition definition, Path folder, @Nullable Long capacity) {
        SarSettings before = definition.sar();
        if (before.ssdLocation() == null && capacity == null) {
            throw new IllegalArgumentException("the volume has no SSD yet: add --capacity=SIZE");
        } else if (capacity == null) {
            return definition.withSar(before.withLocation(folder));
        } else if (before.ssdLocation() != null) {
            throw new IllegalArgumentException(hasOne(volume));
        }
        return new VolumeDefinition(definition
                .values()
                .with(VolumeOptions.SSD_LOCATION, folder)
                .with(VolumeOptions.SSD_CAPACITY, capacity)
                .with(VolumeOptions.SAR_ENABLED, true));
    }
}
