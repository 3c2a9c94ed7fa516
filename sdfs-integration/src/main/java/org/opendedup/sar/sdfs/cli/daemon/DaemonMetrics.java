package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.opendedup.sar.sdfs.cli.daemon.MountService.Latencies;
import org.opendedup.sar.sdfs.cli.daemon.MountService.MountedVolume;
import org.opendedup.sar.sdfs.health.Finding;
import org.opendedup.sar.sdfs.health.HealthFacts;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.jmx.ObjectStoreFigures;
import org.opendedup.sar.sdfs.jmx.SarAdministration;
import org.opendedup.sar.sdfs.jmx.SarFigures;
import org.opendedup.sar.sdfs.jmx.VolumeFigures;
import org.opendedup.sar.sdfs.metrics.PrometheusText;
import org.opendedup.sar.sdfs.wear.SsdWear;
import org.opendedup.sar.volume.store.DeviceCondition;
import org.opendedup.sar.volume.store.RemoteStatistics;

/**
 * All figures of a mounted volume as text for Prometheus.
 *
 * @param version of the program
 */
record DaemonMetrics(
        String volume,
        String version,
        Supplier<VolumeFigures> figures,
        HealthWatch<HealthFacts> health,
        SarAdministration sar,
        SsdWear wear,
        MountedVolume mounted)
        implements Supplier<String> {
    private static final double MILLIS_PER_SECOND = 1000;

    /** @throws UncheckedIOException if the figures are not known now */
    @Override
    public String get() {
        try {
            return text();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String text() throws IOException {
        HealthWatch.Judgement<HealthFacts> judgement = health.judge();
        var status = sar.status();
        var text = new PrometheusText(volume)
                .gauge("build_info", "The program that serves the volume", 1, Map.of("version", version))
                .figures(figures.get())
                .gauge(
                        "health_severity",
                        "How the volume is: 0 well, 1 degraded, 2 damaged",
                        judgement.health().ordinal(),
                        Map.of());
        findings(text, judgement);
        devices(text, judgement.facts());
        text.gauge(
                "scrub_completed_timestamp_seconds",
                "When the last complete scrub ended, in seconds since 1970; if there was none, when the volume was"
                        + " made",
                judgement.facts().store().scrub().since().toEpochMilli() / MILLIS_PER_SECOND,
                Map.of());
        text.figures("sar", SarFigures.of(status))
                .gauge(
                        "sar_space_ssd_capacity_bytes",
                        "Largest number of bytes to use on the SSD; 0 without one",
                        status.settings().capacityBytes(),
                        Map.of())
                .figures("ssd", wear.figures())
                .figures("fast_tier", mounted.tier().figures());
        RemoteStatistics remote = mounted.remote();
        if (remote != null) {
            text.figures(
                    "object_store",
                    ObjectStoreFigures.of(remote, figures.get().store().storedBytes()));
        }
        latencies(text, mounted.latencies());
        return text.text();
    }

    /** The severity of each finding that a volume may have, so that an alert can name it; absent if it has it not. */
    private static void findings(PrometheusText text, HealthWatch.Judgement<HealthFacts> judgement) {
        text.gauge(
                "findings",
                "Number of things that are wrong with the volume",
                judgement.findings().size(),
                Map.of());
        for (Finding finding : judgement.findings()) {
            text.gauge(
                    "finding",
                    "Something that is wrong with the volume: 1 degraded, 2 damaged",
                    finding.severity().ordinal(),
                    Map.of("id", finding.id()));
        }
    }

    private static void devices(PrometheusText text, HealthFacts facts) {
        for (DeviceCondition device : facts.condition().devices()) {
            Map<String, String> folder = Map.of("folder", device.folder());
            text.gauge(
                    "disk_free_bytes", "Bytes that the volume can still write to a disk", device.usableBytes(), folder);
        }
        for (DeviceCondition device : facts.condition().devices()) {
            text.gauge("disk_size_bytes", "Size of a disk", device.totalBytes(), Map.of("folder", device.folder()));
        }
    }

    private static void latencies(PrometheusText text, Latencies latencies) {
        latencies
                .requests()
                .forEach((kind, counts) -> text.histogram(
                        "request_duration_seconds",
                        "How long requests of the kernel took, by kind",
                        "kind",
                        kind,
                        counts));
        latencies
                .reads()
                .forEach((from, counts) -> text.histogram(
                        "read_duration_seconds",
                        "How long reads of programs took, by the slowest place that they waited for",
                        "source",
                        from.name().toLowerCase(Locale.ROOT),
                        counts));
    }
}
