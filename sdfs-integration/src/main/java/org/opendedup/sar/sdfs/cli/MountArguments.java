package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.volume.VolumeConfig;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What mount.sdfs is told and hands on to the daemon. */
final class MountArguments {
    @Spec(Spec.Target.MIXEE)
    @Nullable
    CommandSpec spec;

    @Parameters(index = "0", paramLabel = "VOLUME", description = "Name of the volume.")
    String volume = "";

    @Parameters(index = "1", paramLabel = "MOUNTPOINT", description = "An existing folder.")
    Path mountPoint = Path.of("");

    @Option(
            names = "-o",
            paramLabel = "OPTIONS",
            description =
                    "Mount options, separated by commas: ro, allow_other (for what a user mounts), verify_fingerprints (hash "
                            + "every chunk read from disk), nosuid, nodev, noexec, "
                            + "noatime, and others of mount(8) and fstab.")
    List<String> options = new ArrayList<>();

    @Option(
            names = "--memory-budget",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "For this mount, instead of the volume's own.")
    @Nullable
    Long memoryBudgetBytes;

    @Option(
            names = "--fuse-binding",
            paramLabel = "NAME",
            description =
                    "How the kernel is served: kernel (its own protocol; the default) or jnr (libfuse 2, slower, for "
                            + "places where the other cannot run). Also as a mount option: fuse_binding=NAME.")
    @Nullable
    String fuseBinding;

    /** The volume's definition, with what was given for this mount. */
    VolumeDefinition definition(Environment environment) throws IOException {
        VolumeDefinition stored;
        try {
            stored = environment.configDirectory().read(volume);
            return memoryBudgetBytes == null ? stored : withBudget(stored, memoryBudgetBytes);
        } catch (IllegalArgumentException e) {
            throw usage(e);
        }
    }

    private static VolumeDefinition withBudget(VolumeDefinition stored, long budgetBytes) {
        VolumeConfig config = stored.config();
        return new VolumeDefinition(
                new VolumeConfig(
                        config.name(),
                        config.capacityBytes(),
                        config.maximumFullPercentage(),
                        config.locations(),
                        config.chunking(),
                        config.compression(),
                        config.pageBytes(),
                        budgetBytes,
                        config.writeThreads(),
                        config.rootMode(),
                        config.rootUid(),
                        config.rootGid()),
                stored.basePath(),
                stored.indexName(),
                stored.garbageCollectionSchedule(),
                stored.fileMode(),
                stored.sar(),
                stored.restore());
    }

    Path absoluteMountPoint() {
        return mountPoint.toAbsolutePath().normalize();
    }

    /** The options for the file system, checked. */
    String mountOptions(MountService service) {
        List<String> given = new ArrayList<>(options);
        if (fuseBinding != null) {
            given.add(MountService.BINDING_OPTION + fuseBinding);
        }
        String forFileSystem = MountHelperOptions.without(String.join(",", given));
        try {
            service.checkOptions(forFileSystem);
        } catch (IllegalArgumentException e) {
            throw usage(e);
        }
        return forFileSystem;
    }

    /** The arguments again, for the daemon, with the options that are left. */
    List<String> handedOn(String forFileSystem) {
        var arguments = new ArrayList<String>();
        if (!forFileSystem.isEmpty()) {
            arguments.add("-o");
            arguments.add(forFileSystem);
        }
        if (memoryBudgetBytes != null) {
            arguments.add("--memory-budget=" + memoryBudgetBytes);
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
