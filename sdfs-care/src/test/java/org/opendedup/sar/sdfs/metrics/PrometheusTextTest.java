package org.opendedup.sar.sdfs.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.common.LatencyBuckets;

@Timeout(30)
class PrometheusTextTest {
    /** Figures of all kinds. */
    public record Figures(
            @JsonUnwrapped Inner inner,

            @Figure(value = "Share, with a \\ and\nan end of line", unit = "percent")
            int highPercent,

            @Figure(value = "Files", unit = "files") long rawFiles,

            @Figure(value = "Whether it runs", unit = "true or false")
            boolean running,

            @Figure(value = "State", unit = "name") String state,

            @Figure(value = "Folder", unit = "path") String mountPoint,

            @Figure(value = "Ratio", unit = "ratio") @Nullable
            Double wearRatio,

            long notDeclared,
            Section section) {}

    /** Figures that are not in a section. */
    public record Inner(
            @Figure(value = "Name", unit = "name") String name,

            @Figure(value = "Bytes read", unit = "bytes", counter = true)
            long readBytes,

            @Figure(value = "Process", unit = "process id") long pid) {}

    /** A section. */
    public record Section(
            @Figure(value = "By writes", unit = "chunks", name = "PromotedByWrite", counter = true)
            long byWrite) {}

    private static Figures figures(@Nullable Double wear) {
        return new Figures(
                new Inner("pool", 1L << 53, 4711), 85, 3, true, "read-only", "/mnt", wear, 9, new Section(17));
    }

    @Test
    void namesUnitsAndTypesFollowTheDeclarations() {
        String text = new PrometheusText("pool").figures("part", figures(0.25)).text();
        PrometheusSamples samples = PrometheusSamples.parse(text);
        assertEquals(
                Map.of(
                        "sdfs_part_read_bytes_total", "counter",
                        "sdfs_part_high_ratio", "gauge",
                        "sdfs_part_raw_files", "gauge",
                        "sdfs_part_running", "gauge",
                        "sdfs_part_state", "gauge",
                        "sdfs_part_wear_ratio", "gauge",
                        "sdfs_part_section_promoted_by_write_total", "counter"),
                samples.types());
        assertEquals(1L << 53, samples.value("sdfs_part_read_bytes_total", ""));
        assertEquals(0.85, samples.value("sdfs_part_high_ratio", ""));
        assertEquals(1, samples.value("sdfs_part_running", ""));
        assertEquals(1, samples.value("sdfs_part_state", "state=\"read-only\""));
        assertEquals(17, samples.value("sdfs_part_section_promoted_by_write_total", ""));
        assertTrue(text.contains("# HELP sdfs_part_high_ratio Share, with a \\\\ and\\nan end of line\n"), text);
    }

    @Test
    void whatIsNotKnownHasNoSample() {
        PrometheusSamples samples = PrometheusSamples.parse(
                new PrometheusText("pool").figures(figures(null)).text());
        assertTrue(samples.types().containsKey("sdfs_raw_files"));
        assertEquals(false, samples.types().containsKey("sdfs_wear_ratio"));
    }

    @Test
    void aLabelHoldsAnyText() {
        String text = new PrometheusText("po\"ol\\\n")
                .gauge("disk_free_bytes", "Free", 1e18, Map.of("folder", "/a\"b\\c\nd"))
                .gauge("disk_free_bytes", "Free", Double.NaN, Map.of("folder", "/e"))
                .text();
        assertEquals("""
                # HELP sdfs_disk_free_bytes Free
                # TYPE sdfs_disk_free_bytes gauge
                sdfs_disk_free_bytes{volume="po\\"ol\\\\\\n",folder="/a\\"b\\\\c\\nd"} 1000000000000000000
                sdfs_disk_free_bytes{volume="po\\"ol\\\\\\n",folder="/e"} NaN
                """, text);
        PrometheusSamples.parse(text);
    }

    @Test
    void aHistogramAddsUp() {
        LatencyBuckets buckets = new LatencyBuckets();
        buckets.record(20_000);
        buckets.record(1_500_000);
        buckets.record(60_000_000_000L);
        PrometheusSamples samples = PrometheusSamples.parse(new PrometheusText("pool")
                .histogram("request_duration_seconds", "How long", "kind", "read", buckets.counts())
                .histogram("request_duration_seconds", "How long", "kind", "write", new LatencyBuckets().counts())
                .text());
        String name = "sdfs_request_duration_seconds";
        assertEquals(0, samples.value(name + "_bucket", "kind=\"read\",le=\"0.00001\""));
        assertEquals(1, samples.value(name + "_bucket", "kind=\"read\",le=\"0.000025\""));
        assertEquals(2, samples.value(name + "_bucket", "kind=\"read\",le=\"30\""));
        assertEquals(3, samples.value(name + "_bucket", "kind=\"read\",le=\"+Inf\""));
        assertEquals(3, samples.value(name + "_count", "kind=\"read\""));
        assertEquals(60.00152, samples.value(name + "_sum", "kind=\"read\""), 1e-9);
        assertEquals(Set.of(name + "_bucket", name + "_count", name + "_sum"), samples.names());
    }

    @Test
    void controlTextsThatPrometheusRefusesAreFound() {
        String head = "# HELP sdfs_a A\n# TYPE sdfs_a gauge\n";
        for (String wrong : List.of(
                "sdfs_a{volume=\"p\"} 1\n",
                head + "sdfs_a{volume=\"p\"} 1",
                head + "sdfs_a{volume=\"p\"} 1\n" + head + "sdfs_a{volume=\"q\"} 1\n",
                head + "sdfs_a{volume=\"p\"} 1\nsdfs_a{volume=\"p\"} 2\n",
                head + "sdfs_a{volume=\"p\"q\"} 1\n",
                head + "sdfs_b{volume=\"p\"} 1\n",
                "# HELP sdfs_a A\n# TYPE sdfs_a counter\nsdfs_a{volume=\"p\"} 1\n",
                "# HELP sdfs_a_total A\n# TYPE sdfs_a_total gauge\nsdfs_a_total{volume=\"p\"} 1\n",
                "# HELP sdfs_a_millis A\n# TYPE sdfs_a_millis gauge\nsdfs_a_millis{volume=\"p\"} 1\n")) {
            assertThrows(AssertionError.class, () -> PrometheusSamples.parse(wrong), wrong);
        }
    }
}
