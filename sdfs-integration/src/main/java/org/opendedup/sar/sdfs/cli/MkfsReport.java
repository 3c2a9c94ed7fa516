package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.sdfs.cli.command.DefinitionReport;
import org.opendedup.sar.sdfs.cli.daemon.DaemonMemory;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.OptionValues;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * Formats what mkfs.sdfs prints about the new volume.
 *
 * @param file the volume file
 * @param definition the new volume
 * @param mountPoint a folder to mount it on, which need not exist
 * @param keyOption the mount option that names the source of the passphrase; empty if none was named
 */
record MkfsReport(Path file, VolumeDefinition definition, Path mountPoint, String keyOption) {
    /** What mount(8) runs; scripts/install and the packages make it. */
    private static final Path HELPER = Path.of("/sbin/mount.sdfs");

    private static final long SMALL_DISK_BYTES = 100L << 30;
    private static final Pattern PLAIN = Pattern.compile("[\\w/.,:@%+-]+");

    /**
     * Returns what the maker of the volume needs to know now. Ends with the lines to copy: the command that mounts it
     * and, if mount(8) finds the volume, its line of fstab.
     */
    String summary() {
        VolumeConfig config = definition.config();
        return String.format(
                "Made the volume %s: %s%n"
                        + "  capacity       %s, of which %d %% are for users other than root%s%n"
                        + "  chunks         %s, %s%n"
                        + "%s"
                        + "  lies in        %s%n"
                        + "  memory budget  %s%n"
                        + "%s%s%s"
                        + "Mount it now:%n"
                        + "  mkdir -p %s && %s %s %s%n"
                        + "%s%s",
                config.name(),
                file,
                ByteSize.exact(config.capacityBytes()),
                config.maximumFullPercentage(),
                besideDisk(),
                config.chunking().name(),
                DefinitionReport.compression(config.compression()),
                store(),
                places(),
                ByteSize.exact(config.memoryBudgetBytes()),
                encryption(),
                loss(definition.raw()),
                threshold(),
                word(mountPoint),
                isFoundByMount() && Files.exists(HELPER) ? "mount -t sdfs" : "mount.sdfs",
                (keyOption.isEmpty() ? "" : "-o " + word(keyOption) + " ") + config.name(),
                word(mountPoint),
                elsewhere(),
                isFoundByMount() ? "Mount it at each boot, by this line of /etc/fstab:\n  " + fstabLine() + "\n" : "");
    }

    /** Returns a line that names the object store, and what is lost with this machine; empty without a store. */
    private String store() {
        RemoteSettings store = definition.store();
        return store == null
                ? ""
                : String.format(
                        "  object store   %s; an fsync waits for %s; up to %s of it stay in the cache here%n",
                        store.store(),
                        store.promise() == Promise.REMOTE ? "it" : "the disk of this machine only",
                        ByteSize.exact(store.cacheBytes()));
    }

    private String elsewhere() {
        return definition.store() == null
                ? ""
                : String.format(
                        "Mount it on another machine, when it is not mounted here:%n  mount.sdfs %s %s%n",
                        word(definition.store().store()), word(mountPoint.toString()));
    }

    /** Returns whether mount(8) finds the volume: it passes no environment variables on to its helpers. */
    private boolean isFoundByMount() {
        return file.startsWith(ConfigDirectory.DEFAULT);
    }

    /** Returns a path as one word of a shell. */
    private static String word(Path path) {
        return word(path.toString());
    }

    private static String word(String text) {
        return PLAIN.matcher(text).matches() ? text : "'" + text.replace("'", "'\\''") + "'";
    }

    /**
     * Returns a line of /etc/fstab. Without the names of the folders, systemd may mount the volume before the disks on
     * which it lies; see systemd.mount(5).
     */
    private String fstabLine() {
        List<Path> folders = Stream.concat(Stream.of(definition.basePath()), definition.stores().values().stream())
                .distinct()
                .toList();
        String waiting = folders.stream()
                .filter(folder ->
                        folders.stream().noneMatch(other -> !other.equals(folder) && folder.startsWith(other)))
                .map(folder -> ",x-systemd.requires-mounts-for=" + MountTable.field(folder.toString()))
                .collect(Collectors.joining());
        String key = keyOption.isEmpty() ? "passphrase_file=FILE" : MountTable.field(keyOption);
        return definition.config().name() + " " + MountTable.field(mountPoint.toString()) + " sdfs nofail"
                + (definition.isEncrypted() ? "," + key : "") + (definition.store() == null ? "" : ",_netdev") + waiting
                + " 0 0";
    }

    /** Returns the size of the disk that a folder is or will be on, in bytes: whole GiB, of a small disk whole MiB. */
    static long diskBytes(Path folder) throws IOException {
        Path there = folder.toAbsolutePath().normalize();
        while (Files.notExists(there) && there.getParent() != null) {
            there = there.getParent();
        }
        long bytes = Files.getFileStore(there).getTotalSpace();
        long unit = bytes < SMALL_DISK_BYTES ? 1 << 20 : 1 << 30;
        return bytes - bytes % unit;
    }

    /** Returns what the capacity means beside the disk of the containers, if it is as large, or larger. */
    private String besideDisk() {
        if (definition.store() != null) {
            return "";
        }
        try {
            long disk = diskBytes(definition.config().locations().data());
            long capacity = definition.config().capacityBytes();
            if (capacity == disk) {
                return "; as much as the disk, but of files before deduplication: --volume-capacity=SIZE allows more";
            }
            return capacity < disk ? "" : "; the disk has " + ByteSize.rounded(disk);
        } catch (IOException e) {
            return "";
        }
    }

    /** Returns the base path, and the locations that are not below it. */
    private String places() {
        var places = new StringBuilder(definition.basePath().toString());
        VolumeConfig.Locations locations = definition.config().locations();
        addPlace(places, "containers", locations.data());
        for (Path further : locations.furtherData()) {
            addPlace(places, "more containers", further);
        }
        addPlace(places, "names, recipes and counts", locations.metadata());
        addPlace(places, "index", locations.hashDb());
        Path ssd = definition.sar().ssdLocation();
        if (ssd != null) {
            String size = ByteSize.exact(definition.sar().hot().capacityBytes());
            places.append("; at most ").append(size).append(" of copies");
            if (definition.raw().isEnabled()) {
                places.append(" and ")
                        .append(ByteSize.rounded(definition.raw().capacityBytes()))
                        .append(" of raw files");
            }
            places.append(" on the SSD in ").append(ssd);
        }
        return places.toString();
    }

    /** Returns a line that says what a lost passphrase loses; empty if the volume is not encrypted. */
    private String encryption() {
        return definition.isEncrypted()
                ? String.format(
                        "  encrypted      without a passphrase everything is lost; put the master key into a safe:%n"
                                + "                 sdfscli %s key export FILE%n",
                        definition.config().name())
                : "";
    }

    /** Returns a line that says what a lost SSD loses; empty if it loses nothing. */
    private static String loss(RawSettings raw) {
        if (!raw.isEnabled()) {
            return "";
        }
        String lost = raw.copyAfterS() == 0
                ? "every raw file that was not migrated is lost, because it lies there only"
                : "raw files lose what was written to them in the last " + raw.copyAfterS()
                        + " seconds of use, and files that stay open lose all that is in no chunk yet";
        return String.format("  a lost SSD     %s%n", lost);
    }

    /** Returns a line that says that a chosen threshold of references has no effect; else empty. */
    private String threshold() {
        OptionValues values = definition.values();
        return values.find(VolumeOptions.SAR_THRESHOLD).equals(VolumeOptions.SAR_THRESHOLD.byDefault())
                ? ""
                : SarSettings.unusedThreshold(String.valueOf(values.text(VolumeOptions.SAR_POLICY)));
    }

    private void addPlace(StringBuilder places, String what, Path place) {
        if (!place.startsWith(definition.basePath())) {
            places.append("; ").append(what).append(" in ").append(place);
        }
    }

    /** Returns every setting, and how the memory budget is divided. */
    String details(Map<String, Object> settings, DaemonMemory memory) {
        return DefinitionReport.table(settings)
                + String.format(
                        "Memory plan, of a budget of %s:%n",
                        ByteSize.rounded(definition.config().memoryBudgetBytes()))
                + memory.table();
    }
}
