package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.MachineMemory;
import org.opendedup.sar.sdfs.cli.command.SizeConverter;
import org.opendedup.sar.sdfs.cli.keys.SecretOptions;
import org.opendedup.sar.sdfs.cli.mounts.MountHelperOptions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.sdfs.keys.SecretSource;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The arguments of mount.sdfs, which it passes on to the daemon. */
public final class MountArguments {
    @Spec(Spec.Target.MIXEE)
    @Nullable
    CommandSpec spec;

    @Parameters(
            index = "0",
            paramLabel = "VOLUME",
            description = "Name of the volume, or the address of its object store.")
    public String volume = "";

    @Parameters(index = "1", paramLabel = "MOUNTPOINT", description = "An existing folder.")
    public Path mountPoint = Path.of("");

    @Option(
            names = "-o",
            paramLabel = "OPTIONS",
            description =
                    "Mount options, separated by commas: ro; allow_other (admit users other than the one who mounts; "
                            + "default for root); noallow_other; allow_suid, allow_dev (let "
                            + "set-user-ID programs, devices in "
                            + "the volume work; off by default); noexec; sync; "
                            + "memory_budget=SIZE; verify_fingerprints (hash "
                            + "every chunk read from disk); noflush, noacl, noxattr (fewer requests for each file: "
                            + "close reports no late failures; no access lists, files that have one are for their "
                            + "owner and root only; no extended attributes); nofast_wakeup (let processors sleep while "
                            + "requests flow: less power, slower small requests); threads=N; read_ahead_kb=N; "
                            + "nopassthrough; show_snapshots (list the folder .snapshots); "
                            + "metrics=PORT or ADDRESS:PORT (serve figures to Prometheus over HTTP, "
                            + "without a password); status_group=GROUP (may read the status without being root; "
                            + "default adm); passphrase_file=FILE, key_file=FILE, passphrase_command=COMMAND (of an "
                            + "encrypted volume, as the options with dashes); and options of mount(8) and "
                            + "fstab. docs/operations/mount.md "
                            + "explains all.")
    public List<String> options = new ArrayList<>();

    @Option(
            names = "--memory-budget",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Memory budget of this mount, in place of the volume's own.")
    @Nullable
    Long memoryBudgetBytes;

    @Mixin
    SecretOptions secrets = new SecretOptions();

    /** The mount option that is equivalent to {@code --memory-budget}, for fstab. */
    private static final String MEMORY_BUDGET = "memory_budget=";

    /**
     * The mount options that are equivalent to those of {@link SecretOptions}, and may be spelled as they are. The
     * daemon does not get them.
     */
    private static final Pattern OF_SECRET = Pattern.compile("(passphrase[_-](?:file|command)|key[_-]file)=.*");

    /** Names of options that the daemon uses when it begins. */
    private static final Set<String> FIXED = Set.of(
            "threads",
            "read_ahead_kb",
            "memory_budget",
            "verify_fingerprints",
            "metrics",
            "status_group",
            "noallow_other",
            "flush",
            "noflush",
            "acl",
            "noacl",
            "xattr",
            "noxattr",
            "fast_wakeup",
            "nofast_wakeup",
            "hide_snapshots",
            "show_snapshots",
            "passthrough",
            "nopassthrough");

    /** Those of them that a mount without any options has. */
    private static final Set<String> DEFAULTS = Set.of("flush", "acl", "xattr", "hide_snapshots");

    /** Returns the volume's definition, with the values given for this mount. */
    public VolumeDefinition definition(Environment environment) throws IOException {
        VolumeDefinition stored;
        try {
            stored = environment.configDirectory().read(volume);
            Long budgetBytes = budgetBytes();
            if (budgetBytes != null) {
                MachineMemory.check(budgetBytes);
            }
            return budgetBytes == null ? stored : withBudget(stored, budgetBytes);
        } catch (IllegalArgumentException e) {
            throw usage(e);
        }
    }

    /** Returns the budget given for this mount in bytes, or null; the last of several options wins. */
    private @Nullable Long budgetBytes() {
        return memoryBudgetBytes != null
                ? memoryBudgetBytes
                : Optional.ofNullable(value(MEMORY_BUDGET)).map(ByteSize::parse).orElse(null);
    }

    private static boolean isMemoryBudget(String option) {
        return option.startsWith(MEMORY_BUDGET);
    }

    private static boolean isOfSecret(String option) {
        return OF_SECRET.matcher(option).matches();
    }

    /** Returns where the passphrase of an encrypted volume comes from. */
    SecretSource secretSource() {
        SecretSource source = secrets.source();
        if (source.isGiven() || split().noneMatch(MountArguments::isOfSecret)) {
            return source;
        }
        String file = value("passphrase_file=");
        String keyFile = value("key_file=");
        try {
            return new SecretSource(
                    file == null ? null : Path.of(file),
                    keyFile == null ? null : Path.of(keyFile),
                    value("passphrase_command="),
                    SecretSource.PASSPHRASE);
        } catch (IllegalArgumentException e) {
            throw usage(e);
        }
    }

    /** Returns the value of a mount option; of several the last; null if it is not given. */
    private @Nullable String value(String option) {
        return split().filter(given ->
                        given.startsWith(option) || isOfSecret(given) && given.startsWith(option.replace('_', '-')))
                .reduce((first, second) -> second)
                .map(given -> given.substring(option.length()))
                .orElse(null);
    }

    private Stream<String> split() {
        return options.stream().flatMap(list -> Arrays.stream(list.split(",")));
    }

    public static VolumeDefinition withBudget(VolumeDefinition stored, long budgetBytes) {
        return stored.with(VolumeOptions.MEMORY_BUDGET, budgetBytes);
    }

    /**
     * Returns the path as in the mount table: without symbolic links. Of a dead mount only the parent folder can be
     * examined.
     */
    public Path absoluteMountPoint() {
        Path absolute = mountPoint.toAbsolutePath().normalize();
        Path name = absolute.getFileName();
        Path folder = absolute.getParent();
        if (name == null || folder == null) {
            return absolute;
        }
        try {
            return Files.isSymbolicLink(absolute)
                    ? absolute.toRealPath()
                    : folder.toRealPath().resolve(name);
        } catch (IOException e) {
            // It does not exist, which is reported when it is mounted on.
            return absolute;
        }
    }

    /** Returns the options for the file system, after a check. */
    public String mountOptions(MountService service) {
        String forFileSystem =
                MountHelperOptions.without(split().filter(option -> !isMemoryBudget(option) && !isOfSecret(option))
                        .collect(Collectors.joining(",")));
        try {
            service.checkOptions(forFileSystem);
        } catch (IllegalArgumentException e) {
            throw usage(e);
        }
        return forFileSystem;
    }

    /**
     * Returns the options that a remount cannot change, and that are not those of the present mount.
     *
     * @param present options of that, separated by commas, as {@link #withBudget(String, VolumeDefinition)} returns
     *     them
     */
    public Stream<String> fixedOptions(String present) {
        List<String> now = List.of(present.split(","));
        return split().map(String::strip)
                .map(option -> isMemoryBudget(option) ? MEMORY_BUDGET + budgetBytes() : option)
                .filter(option -> FIXED.contains(option.replaceAll("=.*", "")) && !now.contains(option))
                .filter(option -> !DEFAULTS.contains(option) || now.contains("no" + option));
    }

    /** Returns options for the file system with the memory budget, in bytes. */
    static String withBudget(String forFileSystem, VolumeDefinition definition) {
        return forFileSystem + "," + MEMORY_BUDGET + definition.config().memoryBudgetBytes();
    }

    /** Returns how the budget is divided for a mount with these options, after a check. */
    DaemonMemory memory(VolumeDefinition definition, String forFileSystem, MountService service) {
        try {
            return DaemonMemory.of(definition.engineConfig().withRequests(service.requestBuffers(forFileSystem)));
        } catch (IllegalArgumentException e) {
            throw usage(e);
        }
    }

    /** @throws IllegalArgumentException if a single option is not known */
    public void checkOption(String option, MountService service) {
        if (!isMemoryBudget(option) && !isOfSecret(option)) {
            service.checkOptions(option);
        }
    }

    /** Returns the arguments for the daemon, with the remaining options. */
    List<String> handedOn(String forFileSystem) {
        var arguments = new ArrayList<String>();
        if (!forFileSystem.isEmpty()) {
            arguments.add("-o");
            arguments.add(forFileSystem);
        }
        Long budgetBytes = budgetBytes();
        if (budgetBytes != null) {
            arguments.add("--memory-budget=" + budgetBytes);
        }
        arguments.add("--");
        arguments.add(volume);
        arguments.add(absoluteMountPoint().toString());
        return arguments;
    }

    private ParameterException usage(IllegalArgumentException e) {
        if (spec == null) {
            throw new IllegalStateException("not run by picocli", e);
        }
        return new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
}
