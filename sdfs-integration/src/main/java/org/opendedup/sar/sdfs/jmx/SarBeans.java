package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.management.NotificationEmitter;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.sdfs.jmx.RecordBean.Limits;
import org.opendedup.sar.sdfs.jmx.SarAdministration.Way;
import org.opendedup.sar.ssd.SsdLogStatistics;
import org.opendedup.sar.tier.distributor.DistributorStatistics;
import org.opendedup.sar.tier.policy.TierSettings;

/**
 * The beans of a volume's SSD: its figures in the sections of {@link SarFigures}, the parameters, and what an
 * administrator can do. A setting is also stored in the volume file.
 */
record SarBeans(SarAdministration sar) {
    private static final String YES_OR_NO = "true or false";

    RecordBean promotion() {
        return new RecordBean("Promotion of chunks to the SSD (SAR paper §3.4)")
                .setting(
                        boolean.class,
                        "Enabled",
                        "True if chunks are promoted; copies on the SSD are read in either case",
                        YES_OR_NO,
                        Limits.NONE,
                        () -> settings().enabled(),
                        value -> sar.set(SarParameters.ENABLED, value))
                .setting(
                        int.class,
                        "ReferenceCountThreshold",
                        "Number of references from which the policy reference-count promotes a chunk that is written"
                                + " again",
                        "references",
                        Limits.range(TierSettings.THRESHOLD_MIN, Integer.MAX_VALUE),
                        () -> settings().referenceCountThreshold(),
                        value -> sar.set(SarParameters.REFERENCE_COUNT_THRESHOLD, value))
                .setting(
                        int.class,
                        "MaxRunBytes",
                        "Length from which runs of neighbouring chunks stay on the disk",
                        "bytes",
                        Limits.range(TierSettings.RUN_BYTES_MIN, TierSettings.RUN_BYTES_MAX),
                        () -> settings().maxRunBytes(),
                        value -> sar.set(SarParameters.MAX_RUN_BYTES, value))
                .setting(
                        boolean.class,
                        "PromoteOnRead",
                        "True if a second read from the disk promotes a chunk too",
                        YES_OR_NO,
                        Limits.NONE,
                        () -> settings().promoteOnRead(),
                        value -> sar.set(SarParameters.PROMOTE_ON_READ, value))
                .setting(
                        String.class,
                        "Policy",
                        "Ranking of chunks: reference-count, cost or open",
                        "name",
                        Limits.oneOf("reference-count", "cost"),
                        () -> SarParameters.spelling(settings().policy()),
                        value -> sar.set(SarParameters.POLICY, value))
                .figures(SarFigures.Promotion.class, section(SarFigures::promotion));
    }

    RecordBean demotion() {
        return new RecordBean("Removal of chunks from the SSD (SAR paper §3.5)")
                .figures(SarFigures.Demotion.class, section(SarFigures::demotion))
                .operation(
                        void.class,
                        "demoteBelow",
                        "Demotes all chunks with fewer references than the argument, in the background",
                        "none",
                        List.of(new RecordBean.Parameter(
                                int.class,
                                "references",
                                "Chunks with this many references or more stay",
                                "references",
                                Limits.range(1, Integer.MAX_VALUE))),
                        arguments -> run(() -> sar.demoteBelow(Way.JMX, (int) arguments[0])))
                .operation(
                        "demoteAll", "Demotes all chunks, in the background", () -> run(() -> sar.demoteAll(Way.JMX)));
    }

    RecordBean mapTable() {
        return new RecordBean("Places of promoted chunks on the SSD (SAR paper §3.3)")
                .figures(SarFigures.Memory.class, "mapTable", section(SarFigures::memory));
    }

    RecordBean distributor() {
        return new RecordBean("Sources of reads (SAR paper §3.6)")
                .figures(DistributorStatistics.class, section(SarFigures::reads));
    }

    RecordBean lruList() {
        return new RecordBean("List of the chunks most recently read from the disk (SAR paper §3.3)")
                .setting(
                        int.class,
                        "LruEntries",
                        "Maximum number of entries; a change takes effect when the SSD is attached or the volume is"
                                + " mounted",
                        "list items",
                        Limits.range(0, TierSettings.LRU_ENTRIES_MAX),
                        () -> settings().lruEntries(),
                        value -> sar.set(SarParameters.LRU_ENTRIES, value))
                .figures(SarFigures.Memory.class, "lru", section(SarFigures::memory));
    }

    /** @param emitter tells of changes of the SSD's state */
    RecordBean log(NotificationEmitter emitter) {
        return new RecordBean("The SSD and the log of promoted chunks on it", emitter)
                .setting(
                        long.class,
                        "CapacityBytes",
                        "Largest number of bytes to use on the SSD",
                        "bytes",
                        Limits.range(8 << 20, Long.MAX_VALUE),
                        () -> settings().capacityBytes(),
                        value -> sar.set(SarParameters.CAPACITY_BYTES, value))
                .figures(SarFigures.class, this::figures)
                .figures(SarFigures.Space.class, "ssd", section(SarFigures::space))
                .figures(SsdLogStatistics.class, section(SarFigures::log))
                .operation(
                        "detach",
                        "Stops using the SSD, which can then be removed; the volume is read from its disk",
                        () -> run(() -> sar.detach(Way.JMX)))
                .operation(
                        void.class,
                        "attach",
                        "Starts using an SSD: a folder that is missing or empty, or one that this volume used before",
                        "none",
                        List.of(new RecordBean.Parameter(
                                String.class,
                                "location",
                                "The folder; empty: the one that the volume file names",
                                "path",
                                Limits.NONE)),
                        arguments -> attach((String) arguments[0]));
    }

    private @Nullable Object attach(@Nullable String location) {
        if (location == null) {
            throw new IllegalArgumentException(
                    "the location is null; name a folder, or give an empty text for the volume file's");
        }
        return run(() -> sar.attach(Way.JMX, location.isEmpty() ? null : Path.of(location)));
    }

    /** A change that may fail because of the SSD or the volume file. */
    private interface Change {
        void run() throws IOException;
    }

    /** Returns null, the result of an operation that has none. */
    private static @Nullable Object run(Change change) {
        return Beans.call(() -> {
            change.run();
            return null;
        });
    }

    private SarFigures figures() {
        return SarFigures.of(sar.status());
    }

    private <T> Supplier<T> section(Function<SarFigures, T> section) {
        return () -> section.apply(figures());
    }

    private TierSettings settings() {
        return sar.status().settings();
    }
}
