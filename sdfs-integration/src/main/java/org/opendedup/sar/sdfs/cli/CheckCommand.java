package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.check.TableRebuild;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.keys.KeyHeaderCopies;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.FoldersOnly;
import org.opendedup.sar.sdfs.cli.command.OptionSpecs;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.ProgressLine;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.PluginFiles;
import org.opendedup.sar.sdfs.cli.daemon.VolumeOfStore;
import org.opendedup.sar.sdfs.cli.keys.SecretOptions;
import org.opendedup.sar.sdfs.cli.report.CheckText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.PluginStore;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.keys.VolumeKeyHeader;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.config.VolumeConfig;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code sdfs-check}: checks a volume that is not mounted, and makes its container table anew. */
@Command(
        name = "sdfs-check",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        customSynopsis = "sdfs-check VOLUME [--restore-metadata[=BACKUP] | "
                + "--salvage-metadata[=WHAT] | --rebuild-containers | --repair] [--read-objects] [--json]",
        description = {
            "Checks a volume that is not mounted: compares the container table with the packs, counts all references",
            "again, and checks the namespace. Changes nothing unless an option asks for it. Reads no file's bytes.",
            "",
            "For each finding it prints how bad it is, what it is, the damaged files with their byte ranges, and the",
            "command that mends it. NOTE is no defect, DEFECT costs no byte of a file, LOSS does.",
            "",
            "Of an OpenDedup SDFS volume with the plugin it checks the chunks: containers, container table and counts.",
            "The references are SDFS's, so nothing is compared with them, and --repair is refused.",
            "",
            "Of a volume in an object store it checks what another machine finds there now, whatever this machine has",
            "of the volume. The metadata are copied for that. Another machine may have the volume mounted meanwhile."
        },
        footer = {
            "Run it as the user who mounts the volume.",
            "Environment: SDFS_CONFIG_DIR  folder of the volume files (default /etc/sdfs)",
            "             SDFS_CHECK_HEAP  memory of the check, in the form of java -Xmx (default 1g)",
            "             SDFS_PASSPHRASE  passphrase of an encrypted volume",
            "Exit codes:  0 no defect, 1 could not be checked, 2 something is not as it should be, 5 no such volume,",
            "             7 wrong passphrase, 64 wrong usage",
            "",
            "Examples:",
            "  sdfs-check pool0                        # what is wrong, and what to do",
            "  sdfs-check pool0 --restore-metadata     # the newest automatic backup of the metadata, then check",
            "  sdfs-check pool0 --salvage-metadata     # damaged tables of the database, then check",
            "  sdfs-check pool0 --salvage-metadata=records   # what can be read of it, then check",
            "  sdfs-check pool0 --rebuild-containers   # the container table from the packs, then check",
            "  sdfs-check pool0 --repair               # that, and counts, totals, links and names, then check",
            "  sdfs-check s3://bucket/pool0            # on a machine that has nothing of the volume"
        })
public final class CheckCommand implements Callable<Integer> {
    private final Environment environment;

    @Spec
    @Nullable
    CommandSpec spec;

    @Parameters(paramLabel = "VOLUME", description = "Name of the volume, or address of its object store.")
    @Nullable
    String volume;

    @Option(
            names = "--rebuild-containers",
            description = "First make the container table anew from the packs. Deletes no data, and changes no pack; "
                    + "a crash leaves the old table or the new one.")
    boolean rebuildContainers;

    @Option(
            names = "--repair",
            description = "First make right what can be made right without giving up a byte: the container table, as "
                    + "--rebuild-containers does, counts, totals, links and names. What no name leads to gets one in "
                    + "/lost+found. Deletes no data; replaced records are kept in quarantine-N in the metadata "
                    + "location. If it is interrupted, run it again.")
    boolean repair;

    @Option(
            names = "--restore-metadata",
            arity = "0..1",
            paramLabel = "BACKUP",
            fallbackValue = MetadataRecovery.NEWEST,
            description = "First bring the metadata back from a backup: the newest automatic one, the one with this "
                    + "number, or the newest in this folder (with a slash). The present database is kept aside.")
    @Nullable
    String restoreMetadata;

    @Option(
            names = "--salvage-metadata",
            arity = "0..1",
            paramLabel = "WHAT",
            fallbackValue = "tables",
            description = "First mend the metadata database. tables, the default: replace damaged tables by their "
                    + "copies in the automatic backups, which loses nothing; does nothing if not all can be replaced. "
                    + "records: take every single record that can be read, and say what is lost. The present database "
                    + "is kept aside. Of a volume in an object store, both take the newest state "
                    + "there that can be read, "
                    + "and give up what followed it.")
    MetadataRecovery.@Nullable Parts salvageMetadata;

    @Option(
            names = "--read-objects",
            description = "Also read each pack in the object store whole, and compare it with the checksum that was "
                    + "stated when it was put: transfers the whole volume.")
    boolean readObjects;

    @Mixin
    SecretOptions secrets = new SecretOptions();

    @Option(names = "--json", description = "Print JSON, and no progress; the keys are stable.")
    boolean json;

    public CheckCommand(Environment environment) {
        this.environment = environment;
    }

    public static void main(String[] arguments) {
        Libc.makeForOwnerOnly();
        Environment environment = Environment.ofProcess();
        System.exit(CommandRunner.run(new CheckCommand(environment), environment, arguments));
    }

    @Override
    public Integer call() throws IOException, CommandFailedException {
        checkUsage();
        String given = Objects.requireNonNull(volume);
        Optional<PluginStore> ofPlugin = ObjectStores.isAddress(given)
                ? Optional.empty()
                : environment.configDirectory().ofPlugin(OptionSpecs.volumeName(given, this::usage));
        if (ofPlugin.isPresent()) {
            // SDFS has no lock that we know: the metadata database is locked by who uses it.
            VolumeConfig.Locations locations = ofPlugin.get().locations();
            VolumeKeyHeader header = VolumeKeyHeader.of(ofPlugin.get(), secrets.source());
            return run(given, locations, header, PluginFiles.keyLock(given, locations.metadata()), true);
        }
        String name = new VolumeOfStore(environment, "sdfs-check").named(given, !isChanging());
        VolumeDefinition definition = environment.configDirectory().read(name);
        checkPlace(definition);
        RunFiles files = environment.runFiles(definition);
        PrivateFiles.createFolders(files.runFolder());
        try (LockFile lock = LockFile.tryAcquire(files.lock()).orElseThrow(() -> inUse(name))) {
            VolumeConfig.Locations locations = definition.engineConfig().locations();
            VolumeKeyHeader header = VolumeKeyHeader.of(definition, secrets.source());
            return run(name, locations, header, files.keyLock(), false);
        }
    }

    /**
     * Runs with the keys of the volume.
     *
     * @param header null: it is not encrypted
     * @param lock is held while the key header is written
     * @param ofPlugin whether these are the chunks of an SDFS volume, and the plugin mounts them
     */
    private int run(
            String name,
            VolumeConfig.Locations locations,
            @Nullable VolumeKeyHeader header,
            Path lock,
            boolean ofPlugin)
            throws IOException, CommandFailedException {
        if (header == null) {
            return run(name, locations, null, ofPlugin);
        }
        try (KeyHeaderCopies.Unlocked unlocked = header.unlock(environment, secrets.source())) {
            header.repair(unlocked, lock, line -> environment.err().println("sdfs-check: " + line));
            return run(name, locations, unlocked.opened().keys(), ofPlugin);
        }
    }

    private int run(String name, VolumeConfig.Locations locations, @Nullable VolumeKeys keys, boolean ofPlugin)
            throws IOException, CommandFailedException {
        ProgressLine line = new ProgressLine(environment);
        Progress progress = json ? (step, done, of) -> {} : line::at;
        MetadataRecovery.Outcome recovered = recover(new MetadataRecovery(name, locations, keys, ofPlugin), progress);
        line.clear();
        return check(name, new OfflineCheck(name, locations, keys, progress, InstantSource.system()), recovered, line);
    }

    private void checkUsage() {
        if (restoreMetadata != null && salvageMetadata != null) {
            throw usage("--restore-metadata and --salvage-metadata exclude each other");
        }
        if (rebuildContainers && repair) {
            throw usage("--repair includes --rebuild-containers; give one of them");
        }
        if ((rebuildContainers || repair) && (restoreMetadata != null || salvageMetadata != null)) {
            throw usage((repair ? "--repair" : "--rebuild-containers") + " and "
                    + (restoreMetadata != null ? "--restore-metadata" : "--salvage-metadata")
                    + " exclude each other: look at what comes back first. The check that follows says what else is"
                    + " to be mended");
        }
        if (restoreMetadata != null && !MetadataRecovery.namesBackup(restoreMetadata)) {
            throw usage("Invalid value for option '--restore-metadata': '" + restoreMetadata
                    + "' is neither the number of a backup nor a folder (with a slash)");
        }
    }

    private void checkPlace(VolumeDefinition definition) throws CommandFailedException {
        if (restoreMetadata != null) {
            FoldersOnly.require(
                    definition,
                    "The metadata in the store have no other backup: each opening uses the newest "
                            + "checkpoint there that is"
                            + " whole. If the check says that an object is missing or damaged, bring that object back"
                            + " from an earlier version of it, which the store keeps if you told it to");
        }
        if (readObjects && definition.store() == null) {
            throw usage("--read-objects is for a volume in an object store; mount this one, then: sdfscli "
                    + definition.config().name() + " scrub start --wait");
        }
    }

    private boolean isChanging() {
        return repair || rebuildContainers || salvageMetadata != null || restoreMetadata != null;
    }

    private ParameterException usage(String message) {
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), message);
    }

    private static CommandFailedException inUse(String name) {
        return new CommandFailedException("the volume '" + name + "' is mounted, or is being mounted, unmounted or"
                + " checked; unmount it first (sdfscli " + name + " unmount)");
    }

    /** Brings the metadata back as the options say. */
    private MetadataRecovery.@Nullable Outcome recover(MetadataRecovery recovery, Progress progress)
            throws IOException, CommandFailedException {
        if (restoreMetadata != null) {
            return recovery.restore(restoreMetadata);
        }
        return salvageMetadata == null ? null : recovery.salvage(salvageMetadata, progress);
    }

    private int check(String name, OfflineCheck check, MetadataRecovery.@Nullable Outcome recovered, ProgressLine line)
            throws IOException {
        if (recovered != null && !json) {
            environment.out().print(recovered.text());
        }
        OfflineCheck.RepairReport repaired = repair ? check.repair() : null;
        TableRebuild.Report rebuilt =
                repaired != null ? repaired.rebuilt() : rebuildContainers ? check.rebuildContainers() : null;
        StoredVolume.Report report = check.check(readObjects);
        line.clear();
        if (json) {
            Map<String, Object> values = new LinkedHashMap<>();
            values.put("name", name);
            if (recovered != null) {
                values.put("metadata", recovered.values());
            }
            if (rebuilt != null) {
                values.put("rebuilt", rebuilt);
            }
            if (repaired != null) {
                values.put("repaired", repaired.done());
                values.put("quarantine", repaired.quarantines());
            }
            values.putAll(Json.values(CheckText.Report.of(report)));
            environment.out().println(Json.pretty(values));
        } else {
            if (rebuilt != null) {
                environment.out().print(CheckText.of(rebuilt));
            }
            if (repaired != null) {
                environment.out().print(CheckText.of(repaired));
            }
            environment.out().print(CheckText.of(name, CheckText.Report.of(report)));
        }
        return report.hasDefects() ? ExitCode.DAMAGED : ExitCode.OK;
    }
}
