package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.management.NotificationEmitter;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.hot.distributor.DistributorStatistics;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeOption;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.sdfs.jmx.RecordBean.Limits;
import org.opendedup.sar.sdfs.jmx.SarAdministration.Way;
import org.opendedup.sar.ssd.SsdLogStatistics;

/**
 * The beans of a volume's SSD: its figures in the sections of {@link SarFigures}, the parameters, and what an
 * administrator can do. A setting is also stored in the volume file.
 */
record SarBeans(SarAdministration sar) {
    private static final String YES_OR_NO = "true or false";

    RecordBean promotion() {
        var bean = new RecordBean("Promotion of chunks to the SSD (SAR paper §3.4)");
        parameter(bean, boolean.class, VolumeOptions.SAR_ENABLED, YES_OR_NO);
        parameter(bean, int.class, VolumeOptions.SAR_THRESHOLD, "references");
        parameter(bean, int.class, VolumeOptions.SAR_MAX_RUN, "bytes");
        parameter(bean, boolean.class, VolumeOptions.SAR_PROMOTE_ON_READ, YES_OR_NO);
        parameter(bean, String.class, VolumeOptions.SAR_POLICY, "name");
        return bean.figures(SarFigures.Promotion.class, section(SarFigures::promotion));
    }

    /** Adds a parameter of promotion to a bean, as its option is declared. */
    @SuppressWarnings("unchecked") // The type is that of the option's JSON.
    private <T> void parameter(RecordBean bean, Class<T> type, VolumeOption<?> option, String unit) {
        String key = option.key();
        bean.setting(
                type,
                RecordBean.capitalized(key),
                option.text().replaceFirst("\\.$", ""),
                unit,
                Limits.of(option),
                () -> {
                    Object value = Objects.requireNonNull(
                            SarSettings.parameters(settings()).get(key));
                    return (T) (type == int.class ? (Object) ((Number) value).intValue() : value);
                },
                value -> sar.set(option, value));
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
        var bean = new RecordBean("List of the chunks most recently read (SAR paper §3.3)");
        parameter(bean, int.class, VolumeOptions.SAR_LRU_ENTRIES, "list items");
        return bean.figures(SarFigures.Memory.class, "lru", section(SarFigures::memory));
    }

    /** @param emitter tells of changes of the SSD's state */
    RecordBean log(NotificationEmitter emitter) {
        var bean = new RecordBean("The SSD and the log of promoted chunks on it", emitter);
        parameter(bean, long.class, VolumeOptions.SSD_CAPACITY, "bytes");
        return bean.figures(SarFigures.class, this::figures)
                .figures(SarFigures.Space.class, "ssd", section(SarFigures::space))
                .figures(SsdLogStatistics.class, section(SarFigures::log))
                .operation(
                        "detach",
                        "Stops using the SSD, which can then be removed; the volume is read from its disk",
                        () -> run(() -> sar.detach(Way.JMX)))
                .operation(
                        RecordBean.Effect.REACHES_THE_MACHINE,
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

    /** Returns null, the result of an operation that has none. */
    private static @Nullable Object run(Closing.Step change) {
        try {
            change.run();
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
        return null;
    }

    private SarFigures figures() {
        return SarFigures.of(sar.status());
    }

    private <T> Supplier<T> section(Function<SarFigures, T> section) {
        return () -> section.apply(figures());
    }

    private HotSettings settings() {
        return sar.status().settings();
    }
}
