package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.keys.KeyHeader;
import org.opendedup.sar.keys.Secret;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.sdfs.cli.command.CallingUser;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.DefinitionReport;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.MachineMemory;
import org.opendedup.sar.sdfs.cli.command.OptionSpecs;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.Spellings;
import org.opendedup.sar.sdfs.cli.daemon.DaemonMemory;
import org.opendedup.sar.sdfs.cli.daemon.FuseMountService;
import org.opendedup.sar.sdfs.cli.daemon.MountArguments;
import org.opendedup.sar.sdfs.cli.keys.SecretOptions;
import org.opendedup.sar.sdfs.cli.mounts.MountPlaces;
import org.opendedup.sar.sdfs.cli.mounts.VolumeFolders;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.upstream.MkfsSpellings;
import org.opendedup.sar.sdfs.config.BackupSettings;
import org.opendedup.sar.sdfs.config.LocalCache;
import org.opendedup.sar.sdfs.config.OptionValues;
import org.opendedup.sar.sdfs.config.StoredVolumeFile;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.sdfs.config.VolumeOption;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.sdfs.keys.VolumeKeyHeader;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mkfs.sdfs}: makes a volume's folders and databases, then its XML file. */
@Command(
        name = "mkfs.sdfs",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        modelTransformer = OptionSpecs.class,
        customSynopsis = "mkfs.sdfs NAME [FOLDER] [OPTION...]%n       mkfs.sdfs --recover LOCATION...",
        description = {
            "Makes a deduplicating volume, and prints how to mount it.",
            "",
            "Sizes are digits and a unit (256KB, 10GB, 2TB). Units are binary: 1KB is 1024 bytes. A folder that an",
            "option names is made if it is missing; an existing folder must be empty. Options of OpenDedup's mkfs.sdfs",
            "are accepted: what has no meaning here is left out with a note, or refused with what to do instead."
        },
        footer = {
            "Environment: SDFS_CONFIG_DIR  folder of the volume files (default /etc/sdfs)",
            "             SDFS_PASSPHRASE  passphrase of an encrypted volume",
            "Exit codes:  0 made, 1 failed, 7 no passphrase, 64 wrong usage",
            "",
            "Example:",
            "  mkfs.sdfs pool0 /srv/pool0",
            "  mkfs.sdfs pool0 /srv/pool0 --volume-capacity=10TB --chunk-store-hashdb-location=/ssd/pool0-hashdb",
            "  mkfs.sdfs pool0 --object-store=s3://bucket/pool0 --volume-capacity=10TB",
            "  mkfs.sdfs pool0 /srv/pool0 --encrypt               # asks for a passphrase, twice",
            "  mkfs.sdfs --recover /srv/pool0/chunkstore/chunks   # writes a lost volume file anew"
        })
public final class MkfsCommand implements Callable<Integer>, Spellings {
    private static final long BACKUP_FRAME_BYTES = 256 << 10;
    private static final int BACKUP_ZSTD_LEVEL = 3;

    private final Environment environment;
    private final VolumeMaker maker;

    @Spec
    @Nullable
    CommandSpec spec;

    @Parameters(index = "0", arity = "0..1", paramLabel = "NAME", description = "Name of the volume, as --volume-name.")
    @Nullable
    String name;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "FOLDER",
            description = "Where the volume lies, as --base-path.")
    @Nullable
    Path folder;

    @Mixin
    SecretOptions secrets = new SecretOptions();

    @Option(names = "--verbose", description = "Print every setting, and how the memory budget is divided.")
    boolean verbose;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

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
        try {
            definition = definition();
        } catch (IllegalArgumentException e) {
            throw usage(e);
        }
        Path file = environment.configDirectory().fileOf(definition.config().name());
        refuseExisting(file, definition);
        VolumeFolders.of(definition).requireSafe();
        requireUsable(definition.store());
        if (!definition.isEncrypted()) {
            make(definition, file, null, null);
            return ExitCode.OK;
        }
        byte[] master = KeyHeader.newMaster();
        try {
            KeyHeader header = keyHeader(definition, master);
            // The answer may have taken minutes.
            refuseExisting(file, definition);
            make(definition, file, header, header.keys(master));
        } finally {
            Arrays.fill(master, (byte) 0);
        }
        return ExitCode.OK;
    }

    private static void requireUsable(@Nullable RemoteSettings store) throws IOException {
        if (store != null) {
            try (StoredVolumeFile stored = StoredVolumeFile.in(store.store())) {
                stored.requireUsable();
            }
        }
    }

    /** Asks for the passphrase, and makes the header, before anything else is made. */
    private KeyHeader keyHeader(VolumeDefinition definition, byte[] master) throws IOException {
        String question = "Passphrase of the new volume " + definition.config().name() + ": ";
        try (Secret secret = secrets.source().getNew(environment, question)) {
            return VolumeKeyHeader.create(master, environment.newCost().get(), secret);
        }
    }

    /** @param header of an encrypted volume, with its keys; null: it is not encrypted */
    private void make(VolumeDefinition definition, Path file, @Nullable KeyHeader header, @Nullable VolumeKeys keys)
            throws IOException, CommandFailedException {
        makeFolder(environment.configDirectory().folder(), "SDFS_CONFIG_DIR sets another folder for volume files");
        makeFolder(definition.basePath(), "--base-path=FOLDER names another place");
        maker.make(definition.engineConfig().withKeys(keys));
        if (header != null) {
            VolumeKeyHeader.write(header, definition.config().locations());
        }
        VolumeFileCopy.write(definition);
        if (definition.store() != null) {
            try (StoredVolumeFile stored =
                    StoredVolumeFile.in(definition.store().store())) {
                stored.create(definition);
            }
        }
        // Last: a volume that has a file is complete.
        try {
            VolumeFile.create(file, definition);
        } catch (FileAlreadyExistsException e) {
            throw new CommandFailedException("another volume '"
                    + definition.config().name() + "' was made meanwhile: "
                    + file + "; this one has no volume file. Remove its folders, such as " + definition.basePath()
                    + ", or give it a volume file when that name is free: mkfs.sdfs --recover "
                    + definition.config().locations().data());
        }
        report(file, definition);
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
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), e.getMessage(), e);
    }

    private VolumeDefinition definition() throws IOException {
        OptionValues given = given();
        String volume = given.get(VolumeOptions.NAME);
        if (SdfsCli.isCommand(volume)) {
            throw new IllegalArgumentException(
                    "'" + volume + "' is a command of sdfscli and cannot name a volume; choose another name");
        }
        if (secrets.source().isGiven() && !given.isSet(VolumeOptions.ENCRYPTED)) {
            throw new IllegalArgumentException(
                    "a passphrase or key is for an encrypted volume: add --encrypt, or leave it out");
        }
        if (given.isSet(VolumeOptions.MEMORY_BUDGET)) {
            MachineMemory.check(given.get(VolumeOptions.MEMORY_BUDGET));
        }
        String chunkstash = IndexClass.CHUNKSTASH.label();
        if (given.isSet(VolumeOptions.INDEX_SSD_CAPACITY) && given.get(VolumeOptions.INDEX) != IndexClass.CHUNKSTASH) {
            throw new IllegalArgumentException("--index-ssd-capacity is for an index of class " + chunkstash
                    + ": add --chunk-store-hashdb-class=" + chunkstash + ", or leave it out");
        }
        given.find(VolumeOptions.INDEX_PARAMETERS)
                .ifPresent(parameters -> parameters.checkAgainst(given.get(VolumeOptions.INDEX)));
        Path base = given.find(VolumeOptions.BASE_PATH).orElse(VolumeOptions.defaultFolder(volume));
        Path process = Path.of("/proc/self");
        OptionValues values = stored(given)
                .inFolder(base)
                .orElse(VolumeOptions.MEMORY_BUDGET, MachineMemory.defaultBudgetBytes())
                .orElse(VolumeOptions.WRITE_THREADS, Runtime.getRuntime().availableProcessors())
                .orElse(VolumeOptions.OWNER, (Integer) Files.getAttribute(process, "unix:uid"))
                .orElse(VolumeOptions.GROUP, (Integer) Files.getAttribute(process, "unix:gid"))
                .orElse(VolumeOptions.SAR_ENABLED, given.isSet(VolumeOptions.SSD_LOCATION));
        long disk = MkfsReport.diskBytes(values.get(VolumeOptions.DATA_LOCATION));
        if (values.isSet(VolumeOptions.OBJECT_STORE)) {
            if (!given.isSet(VolumeOptions.CAPACITY)) {
                throw new IllegalArgumentException(
                        "--volume-capacity=SIZE is missing: an object store has no size of" + " its own");
            }
            values = values.orElse(VolumeOptions.CACHE_SIZE, LocalCache.defaultBytes(disk));
        }
        values = values.orElse(VolumeOptions.CAPACITY, disk);
        var definition = new VolumeDefinition(TierOptions.divide(compressed(values))).withPlaces(MkfsCommand::absolute);
        if (definition.store() != null) {
            // The file in the store, which is written last.
            var unused = StoredVolumeFile.placed(definition, VolumeOptions.defaultFolder(volume));
        }
        if (!given.isSet(VolumeOptions.MEMORY_BUDGET)) {
            long least = MemoryPlan.leastBudget(served(definition));
            return MountArguments.withBudget(
                    definition, Math.max(least, definition.config().memoryBudgetBytes()));
        }
        checkMemory(definition);
        return definition;
    }

    /** Returns the values with what follows from them for a volume in an object store. */
    private static OptionValues stored(OptionValues given) {
        OptionValues values = given;
        if (given.isSet(VolumeOptions.LOCAL_CACHE)) {
            LocalCache cache = given.get(VolumeOptions.LOCAL_CACHE);
            values = values.with(VolumeOptions.CACHE_SIZE, cache.bytes());
            if (cache.folder() != null) {
                if (given.isSet(VolumeOptions.DATA_LOCATION)) {
                    throw new IllegalArgumentException(VolumeOptions.LOCAL_CACHE + " with a folder and "
                            + VolumeOptions.DATA_LOCATION + " say the same: give one of them");
                }
                values = values.with(VolumeOptions.DATA_LOCATION, cache.folder());
            }
        }
        return given.isSet(VolumeOptions.OBJECT_STORE)
                ? values.orElse(VolumeOptions.DURABILITY, Promise.LOCAL)
                        .orElse(VolumeOptions.BACKUP_INTERVAL, BackupSettings.OFF)
                : values;
    }

    /** Returns the values of the command line, by options and by the two words. */
    private OptionValues given() {
        OptionValues given = OptionSpecs.given(Objects.requireNonNull(spec));
        if (name != null) {
            given = withWord(given, VolumeOptions.NAME, name);
        }
        if (folder != null) {
            given = withWord(given, VolumeOptions.BASE_PATH, folder.toString());
        }
        if (!given.isSet(VolumeOptions.NAME)) {
            throw new IllegalArgumentException("name the volume: mkfs.sdfs NAME FOLDER");
        }
        return given;
    }

    private static OptionValues withWord(OptionValues given, VolumeOption<?> option, String word) {
        if (given.isSet(option)) {
            throw new IllegalArgumentException(
                    "'" + word + "' and " + option.name() + " say the same: give one of them");
        }
        return given.withText(option, word);
    }

    /** @throws IllegalArgumentException if the memory budget is too small for the threads of a mount without options */
    static void checkMemory(VolumeDefinition definition) {
        var unused = MemoryPlan.of(served(definition));
    }

    /** Returns the configuration of a mount without options. */
    private static VolumeConfig served(VolumeDefinition definition) {
        return definition.engineConfig().withRequests(FuseMountService.requestBuffersOf(""));
    }

    private static OptionValues compressed(OptionValues values) {
        return values.get(VolumeOptions.BACKUP_VOLUME)
                ? values.compressed(BACKUP_ZSTD_LEVEL, BACKUP_FRAME_BYTES)
                : values.compressed();
    }

    private static Path absolute(Path path) {
        return path.toAbsolutePath().normalize();
    }

    private void refuseExisting(Path file, VolumeDefinition definition) throws IOException, CommandFailedException {
        if (Files.exists(file)) {
            throw new CommandFailedException(
                    "the volume '" + definition.config().name() + "' exists already: " + file);
        }
        String name = definition.config().name();
        if (Files.exists(environment.configDirectory().beingRemoved(name))) {
            throw new CommandFailedException(
                    "a volume '" + name + "' is being removed; finish that first: sdfscli " + name + " destroy");
        }
        VolumeConfig.Locations locations = definition.config().locations();
        var places = new ArrayList<Path>(locations.allData());
        places.addAll(List.of(locations.metadata(), locations.hashDb()));
        if (definition.sar().ssdLocation() != null) {
            places.add(definition.sar().ssdLocation());
        }
        for (Path place : places) {
            refuseUnlessEmpty(place, List.of());
            MountPlaces.refuseVolume(place);
        }
        // The base path may contain the parent folders of the locations, but no other volume. It may be the root of a
        // file system.
        refuseUnlessEmpty(
                definition.basePath(),
                Stream.concat(
                                places.stream(),
                                Stream.of(
                                        environment.configDirectory().folder(),
                                        definition.basePath().resolve("lost+found")))
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

    /** Returns a mount point that its user may make: one of root, or in the user's home. */
    private Path mountPoint(String volume) throws IOException {
        String home = environment.variables().getOrDefault("HOME", "");
        return CallingUser.isRoot() || home.isEmpty() ? Path.of("/mnt", volume) : Path.of(home, volume);
    }

    private void report(Path file, VolumeDefinition definition) throws IOException {
        DaemonMemory memory = DaemonMemory.of(served(definition));
        Map<String, Object> result = DefinitionReport.of(file, environment.runFiles(definition));
        if (json) {
            var all = new LinkedHashMap<String, Object>(result);
            all.put("memoryPlan", memory.parts());
            environment.out().println(Json.pretty(all));
            return;
        }
        var report =
                new MkfsReport(file, definition, mountPoint(definition.config().name()), secrets.mountOption());
        if (verbose) {
            environment.out().print(report.details(result, memory));
        }
        environment.out().print(report.summary());
    }
}
