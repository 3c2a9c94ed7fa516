package org.opendedup.sar.sdfs.cli;

import java.nio.file.Path;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.cli.daemon.DaemonMemory;
import org.opendedup.sar.sdfs.cli.report.DefinitionReport;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * Formats what mkfs.sdfs prints about the new volume.
 *
 * @param file the volume file
 * @param definition the new volume
 */
record MkfsReport(Path file, VolumeDefinition definition) {
    /** Returns six lines: what the maker of the volume needs to know now. */
    String summary() {
        VolumeConfig config = definition.config();
        return String.format(
                "Made the volume %s: %s%n"
                        + "  capacity       %s, of which %d %% are for users other than root%n"
                        + "  chunks         %s, %s%n"
                        + "  lies in        %s%n"
                        + "  memory budget  %s%n"
                        + "Mount it with: mount.sdfs %s MOUNTPOINT%n",
                config.name(),
                file,
                ByteSize.exact(config.capacityBytes()),
                config.maximumFullPercentage(),
                config.chunking().name(),
                DefinitionReport.compression(config.compression()),
                places(),
                ByteSize.exact(config.memoryBudgetBytes()),
                config.name());
    }

    /** Returns the base path, and the locations that are not below it. */
    private String places() {
        var places = new StringBuilder(definition.basePath().toString());
        VolumeConfig.Locations locations = definition.config().locations();
        addPlace(places, "containers", locations.data());
        addPlace(places, "names, recipes and counts", locations.metadata());
        addPlace(places, "index", locations.hashDb());
        Path ssd = definition.sar().ssdLocation();
        if (ssd != null) {
            String size = ByteSize.exact(definition.sar().tier().capacityBytes());
            places.append("; at most ")
                    .append(size)
                    .append(" of copies on the SSD in ")
                    .append(ssd);
        }
        return places.toString();
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
