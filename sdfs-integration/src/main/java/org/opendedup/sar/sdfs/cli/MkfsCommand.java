package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.CompressionConverter;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.FailureText;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.MachineMemory;
import org.opendedup.sar.sdfs.cli.command.ModeConverter;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.SizeConverter;
import org.opendedup.sar.sdfs.cli.command.Spellings;
import org.opendedup.sar.sdfs.cli.control.RestoreOptions;
import org.opendedup.sar.sdfs.cli.daemon.DaemonMemory;
import org.opendedup.sar.sdfs.cli.daemon.FuseMountService;
import org.opendedup.sar.sdfs.cli.daemon.MountArguments;
import org.opendedup.sar.sdfs.cli.mounts.MountPlaces;
import org.opendedup.sar.sdfs.cli.mounts.VolumeFolders;
import org.opendedup.sar.sdfs.cli.report.DefinitionReport;
import org.opendedup.sar.sdfs.cli.upstream.MkfsSpellings;
import org.opendedup.sar.sdfs.config.BackupSettings;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import org.opendedup.sar.sdfs.config.Schedule;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.VolumeConfig;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code mkfs.sdfs}: makes a volume's folders and databases, then its XML file. */
@Command(
        name = "mkfs.sdfs",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        customSynopsis = "mkfs.sdfs --volume-name=NAME --volume-capacity=SIZE [OPTION...]%n"
                + "       mkfs.sdfs --recover LOCATION...%n",
        description = {
            "Makes a deduplicating volume. Mount it with mount.sdfs.",
            "",
            "Sizes are digits and a unit (256KB, 10GB, 2TB). Units are binary: 1KB is 1024 bytes. A folder that an",
            "option names is made if it is missing; an existing folder must be empty. Options of OpenDedup's mkfs.sdfs",
            "are accepted: what has no meaning here is left out with a note, or refused with what to do instead.",
            ""
        },
        footer = {
            "",
            "Environment: SDFS_CONFIG_DIR  folder of the volume files (default /etc/sdfs)",
            "Exit codes:  0 made, 1 failed, 64 wrong usage",
            "",
            "Example:",
            "  mkfs.sdfs --volume-name=pool0 --volume-capacity=1TB --base-path=/srv/pool0 \\",
            "            --chunk-store-hashdb-location=/ssd/pool0-hashdb",
            "  mkfs.sdfs --recover /srv/pool0/chunkstore/chunks   # writes a lost volume file anew"
        })
public final class MkfsCommand implements Callable<Integer>, Spellings {
    private static final int FRAME_BYTES = 64 << 10;
    private static final int BACKUP_FRAME_BYTES = 256 << 10;
    private static final int ZSTD_LEVEL = 1;
    private static final int BACKUP_ZSTD_LEVEL = 3;

    private final Environment environment;
    private final VolumeMaker maker;

    @Spec
    @Nullable
    CommandSpec spec;

    @Option(
            names = "--volume-name",
            required = true,
            paramLabel = "NAME",
            description = "Letters, digits, '.', '_' and '-'.")
    String name = "";

    @Option(
            names = "--volume-capacity",
            required = true,
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Largest total size of the files, before deduplication and without holes. At least 1MB.")
    long capacityBytes;

    @Option(
            names = "--base-path",
            paramLabel = "FOLDER",
            description = "Folder of everything that has no location of its own. Default: /opt/sdfs/volumes/NAME.")
    @Nullable
    Path basePath;

    @Option(
            names = "--chunk-store-data-location",
            paramLabel = "FOLDER",
            description = "Containers. Default: BASE/chunkstore/chunks.")
    @Nullable
    Path dataLocation;

    @Option(
            names = "--dedup-db-store",
            paramLabel = "FOLDER",
            description = "Folder of names, recipes and counts. They are as important as the data. Default: BASE/ddb.")
    @Nullable
    Path metadataLocation;

    @Option(
            names = "--chunk-store-hashdb-location",
            paramLabel = "FOLDER",
            description =
                    "Folder of the fingerprint index. Use the SSD if there is one. A lost index is rebuilt. Default: "
                            + "BASE/chunkstore/hdb.")
    @Nullable
    Path hashDbLocation;

    @Option(
            names = "--chunk-store-hashdb-class",
            paramLabel = "INDEX",
            defaultValue = "rocksdb",
            description = "Type of fingerprint index. rocksdb: for any disk; exact. chunkstash: for an SSD; 6 bytes of "
                    + "memory a chunk, faster; exact while memory suffices. silo: for disks only, with little "
                    + "memory a TB; finds nearly all duplicates. Default: ${DEFAULT-VALUE}.")
    String indexName = IndexClass.ROCKSDB.label();

    @Option(
            names = "--hash-type",
            paramLabel = "TYPE",
            defaultValue = "VARIABLE_SHA256",
            description =
                    "Cutting of files into chunks. VARIABLE_SHA256: by content, into 2 to 64 KiB, 8 KiB on average. "
                            + "SHA256: into 4 KiB each, for disk images. Default: ${DEFAULT-VALUE}.")
    Chunking chunking = Chunking.VARIABLE_SHA256;

    @Option(
            names = "--chunk-store-compress",
            paramLabel = "CODEC",
            defaultValue = "zstd",
            converter = CompressionConverter.class,
            description = "Compression: zstd, zstd:LEVEL (1 to 19), lz4 or none. Default: zstd:1; with --backup-volume "
                    + "zstd:3.")
    CompressionConverter.@Nullable Choice compression;

    @Option(
            names = "--chunk-store-recompress",
            paramLabel = "LEVEL",
            defaultValue = "off",
            description =
                    "Compression that garbage collections give to what has stayed since the one before: zstd:LEVEL "
                            + "(1 to 19), harder than that of writing, or off. In the background, each container is "
                            + "written once more. zstd:9 stores up to a tenth less and needs a second of a core for "
                            + "about 70MB; zstd:12 two and a half times as long. sdfscli VOLUME gc set changes it. "
                            + "Default: ${DEFAULT-VALUE}.")
    String recompress = "off";

    @Option(
            names = "--backup-volume",
            description =
                    "For backups: compress harder, in frames of 256KB instead of 64KB. Stores less; random reads cost"
                            + " more.")
    boolean backupVolume;

    @Option(
            names = "--io-chunk-size",
            paramLabel = "SIZE",
            defaultValue = "256KB",
            converter = SizeConverter.class,
            description = "Range of a file that one recipe record describes: a power of two from 64KB to 4MB. Default: "
                    + "${DEFAULT-VALUE}.")
    long pageBytes;

    @Option(
            names = "--io-write-threads",
            paramLabel = "N",
            description = "Number of threads that fingerprint and compress. Default: the number of cores.")
    @Nullable
    Integer writeThreads;

    @Option(
            names = "--memory-budget",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "Memory of the mounted volume, native memory included. About 150MB for the JVM itself are added. "
                            + "Default: the smaller of 1GB and a quarter of RAM, at least "
                            + "256MB, and more for many threads.")
    @Nullable
    Long memoryBudgetBytes;

    @Option(
            names = "--volume-maximum-full-percentage",
            paramLabel = "N",
            defaultValue = "95",
            description = "Share of the capacity for users other than root, in percent. The rest is for root. Default: "
                    + "${DEFAULT-VALUE}.")
    int maximumFullPercentage;

    @Option(
            names = "--permissions-folder",
            paramLabel = "MODE",
            defaultValue = "0755",
            converter = ModeConverter.class,
            description = "Octal mode of the volume's root folder. Default: ${DEFAULT-VALUE}.")
    int folderMode;

    @Option(
            names = "--permissions-file",
            paramLabel = "MODE",
            defaultValue = "0644",
            converter = ModeConverter.class,
            description =
                    "Octal mode of files. Stored for compatibility with SDFS, not used: a program sets the mode of "
                            + "each file that it makes. Default: ${DEFAULT-VALUE}.")
    int fileMode;

    @Option(
            names = "--permissions-owner",
            paramLabel = "UID",
            description = "User ID of the root folder's owner. Default: the user who runs mkfs.sdfs.")
    @Nullable
    Integer owner;

    @Option(
            names = "--permissions-group",
            paramLabel = "GID",
            description = "Group ID of the root folder. Default: the group of the user who runs mkfs.sdfs.")
    @Nullable
    Integer group;

    @Option(
            names = "--io-claim-chunks-schedule",
            paramLabel = "CRON",
            defaultValue = Schedule.COLLECTIONS_DEFAULT,
            description =
                    "When the mounted volume collects garbage, in local time: a cron expression of Quartz (seconds, "
                            + "minutes, hours, day of month, month, day of week, year if wanted), or off. A time at "
                            + "which the volume is not mounted is made up for. Default: ${DEFAULT-VALUE}.")
    String garbageCollectionSchedule = "";

    @Option(
            names = "--scrub-schedule",
            paramLabel = "CRON",
            defaultValue = Schedule.SCRUBS_DEFAULT,
            description = "When the mounted volume scrubs, which reads and verifies everything that it stores: a cron "
                    + "expression as above, or off. Default: ${DEFAULT-VALUE}, the first Sunday of each month at 3:00.")
    String scrubSchedule = "";

    @Option(
            names = "--metadata-backup-interval",
            paramLabel = "TIME",
            defaultValue = BackupSettings.DEFAULT_INTERVAL,
            description = "Time from one automatic backup of the mounted volume's metadata to the next, such as 6h or "
                    + "30m, or off. Default: ${DEFAULT-VALUE}.")
    String backupInterval = "";

    @Option(
            names = "--metadata-backup-keep",
            paramLabel = "N",
            defaultValue = "" + BackupSettings.DEFAULT_KEEP,
            description = "Number of automatic backups of the metadata that are kept. Default: ${DEFAULT-VALUE}.")
    int backupKeep;

    @Option(names = "--verbose", description = "Print every setting, and how the memory budget is divided.")
    boolean verbose;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @ArgGroup(validate = false, heading = "%nA chunkstash index on an SSD (see docs/INDEXES.md):%n")
    IndexOptions index = new IndexOptions();

    @ArgGroup(
            validate = false,
            heading = "%nPromotion to an SSD (sdfscli VOLUME sar set changes all but the location):%n")
    SarOptions sar = new SarOptions();

    @ArgGroup(
            validate = false,
            heading = "%nA fast tier for new files (see docs/OPERATIONS.md, \"A fast tier for new files\"):%n")
    TierOptions tier = new TierOptions();

    @ArgGroup(validate = false, heading = "%nSequential reads (see docs/RESTORE.md):%n")
    RestoreOptions restore = new RestoreOptions();

    /** Makes the engine's part of a volume. */
    @FunctionalInterface
    public interface VolumeMaker {
        void make(VolumeConfig config) throws IOException;
    }

    public MkfsCommand(Environment environment, VolumeMaker maker) {
        this.environment = environment;
        this.maker = maker;
    }

    @Override
    public List<String> translated(List<String> arguments, Consumer<String> notes) {
        return MkfsSpellings.translated(arguments, notes);
    }

    @Override
    public Integer call() throws IOException, CommandFailedException {
        VolumeDefinition definition;
        Path file;
        try {
            file = environment.configDirectory().fileOf(name);
            definition = definition();
        } catch (IllegalArgumentException e) {
            throw usage(e);
        }
        refuseExisting(file, definition);
        VolumeFolders.of(definition).requireSafe();
        makeFolder(environment.configDirectory().folder(), "SDFS_CONFIG_DIR sets another folder for volume files");
        makeFolder(definition.basePath(), "--base-path=FOLDER names another place");
        maker.make(definition.engineConfig());
        VolumeFileCopy.write(definition);
        // Last: a volume that has a file is complete.
        VolumeFile.write(file, definition);
        report(file, definition);
        return ExitCode.OK;
    }

    /** Makes a folder ahead of all else: a volume whose file cannot be written would only be an obstacle. */
    private static void makeFolder(Path folder, String remedy) throws IOException, CommandFailedException {
        try {
            PrivateFiles.createFolders(folder);
        } catch (AccessDeniedException e) {
            throw new CommandFailedException(FailureText.of(e) + "; " + remedy);
        }
        if (!Files.isWritable(folder)) {
            throw new CommandFailedException(folder + ": this user may not write there; " + remedy);
        }
    }

    private ParameterException usage(IllegalArgumentException e) {
        if (spec == null) {
            throw new IllegalStateException("not run by picocli", e);
        }
        return new ParameterException(spec.commandLine(), e.getMessage(), e);
    }

    private VolumeDefinition definition() throws IOException {
        if (SdfsCli.isCommand(name)) {
            throw new IllegalArgumentException(
                    "'" + name + "' is a command of sdfscli and cannot name a volume; choose another name");
        }
        if (memoryBudgetBytes != null) {
            MachineMemory.check(memoryBudgetBytes);
        }
        Path base = absolute(basePath, Path.of("/opt/sdfs/volumes", name));
        Path process = Path.of("/proc/self");
        var config = new VolumeConfig(
                        name,
                        capacityBytes,
                        maximumFullPercentage,
                        new VolumeConfig.Locations(
                                absolute(dataLocation, base.resolve("chunkstore/chunks")),
                                absolute(metadataLocation, base.resolve("ddb")),
                                absolute(hashDbLocation, base.resolve("chunkstore/hdb"))),
                        chunking,
                        compression(),
                        Math.toIntExact(Math.min(pageBytes, Integer.MAX_VALUE)),
                        memoryBudgetBytes == null ? MachineMemory.defaultBudgetBytes() : memoryBudgetBytes,
                        writeThreads == null ? Runtime.getRuntime().availableProcessors() : writeThreads,
                        new VolumeConfig.RootDirectory(
                                folderMode,
                                owner == null ? (Integer) Files.getAttribute(process, "unix:uid") : owner,
                                group == null ? (Integer) Files.getAttribute(process, "unix:gid") : group))
                .withIndexPlacement(index.placement(indexName));
        TierOptions.Division division = tier.divide(sar.settings(), sar.isPolicyChosen());
        var definition = new VolumeDefinition(
                config,
                base,
                indexName,
                garbageCollectionSchedule,
                RecompressLevel.parse(recompress),
                fileMode,
                division.sar(),
                restore.settings(),
                BackupSettings.of(backupInterval, backupKeep),
                scrubSchedule,
                division.raw());
        if (memoryBudgetBytes == null) {
            long least = MemoryPlan.leastBudget(
                    definition.engineConfig().withRequests(FuseMountService.requestBuffersOf("")));
            return MountArguments.withBudget(definition, Math.max(least, config.memoryBudgetBytes()));
        }
        // Refuses a budget that is too small for the threads.
        MemoryPlan.of(served(definition));
        return definition;
    }

    /** Returns the configuration of a mount without options. */
    private static VolumeConfig served(VolumeDefinition definition) {
        return definition.engineConfig().withRequests(FuseMountService.requestBuffersOf(""));
    }

    private Compression compression() {
        var choice = compression == null ? new CompressionConverter().convert("zstd") : compression;
        int level = choice.codec() == Compression.Codec.ZSTD
                ? choice.level().orElse(backupVolume ? BACKUP_ZSTD_LEVEL : ZSTD_LEVEL)
                : 0;
        return new Compression(choice.codec(), level, backupVolume ? BACKUP_FRAME_BYTES : FRAME_BYTES);
    }

    private static Path absolute(@Nullable Path given, Path otherwise) {
        return (given == null ? otherwise : given).toAbsolutePath().normalize();
    }

    private void refuseExisting(Path file, VolumeDefinition definition) throws IOException, CommandFailedException {
        if (Files.exists(file)) {
            throw new CommandFailedException("the volume '" + name + "' exists already: " + file);
        }
        VolumeConfig.Locations locations = definition.config().locations();
        var places = new ArrayList<Path>(List.of(locations.data(), locations.metadata(), locations.hashDb()));
        if (definition.sar().ssdLocation() != null) {
            places.add(definition.sar().ssdLocation());
        }
        for (Path place : places) {
            refuseUnlessEmpty(place, List.of());
            MountPlaces.refuseVolume(place);
        }
        // The base path may contain the parent folders of the locations, but no other volume.
        refuseUnlessEmpty(
                definition.basePath(),
                Stream.concat(
                                places.stream(),
                                Stream.of(environment.configDirectory().folder()))
                        .toList());
    }

    private static void refuseUnlessEmpty(Path folder, List<Path> allowed) throws IOException, CommandFailedException {
        if (!Files.exists(folder)) {
            return;
        }
        if (!Files.isDirectory(folder)) {
            throw new CommandFailedException(folder + " is not a folder; choose another place");
        }
        try (Stream<Path> entries = Files.list(folder)) {
            var inTheWay = entries.filter(entry -> allowed.stream().noneMatch(path -> path.startsWith(entry)))
                    .findFirst();
            if (inTheWay.isPresent()) {
                throw new CommandFailedException(
                        folder + " is not empty (it holds " + inTheWay.get().getFileName() + "); choose another place");
            }
        }
    }

    private void report(Path file, VolumeDefinition definition) {
        DaemonMemory memory = DaemonMemory.of(served(definition));
        Map<String, Object> result = DefinitionReport.of(file, environment.runFiles(definition));
        if (json) {
            var all = new LinkedHashMap<String, Object>(result);
            all.put("memoryPlan", memory.parts());
            environment.out().println(Json.pretty(all));
            return;
        }
        var report = new MkfsReport(file, definition);
        if (verbose) {
            environment.out().print(report.details(result, memory));
        }
        environment.out().print(report.summary());
    }
}
