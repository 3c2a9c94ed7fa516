package org.opendedup.sar.sim.sar;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.opendedup.sar.sim.block.BlockRequest;
import org.opendedup.sar.sim.block.ImageTrace;
import org.opendedup.sar.sim.device.Machine;
import org.opendedup.sar.sim.report.Axis;
import org.opendedup.sar.sim.report.Chart;
import org.opendedup.sar.sim.report.Line;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;

/** The SAR paper's Figures 1 and 12: restores of the five disk images of its Table III, one request at a time. */
final class ImageRestores {
    private static final int THRESHOLD = 2;
    private static final long BYTES_PER_GB = 1_000_000_000L;
    private static final double MILLIS_PER_SECOND = 1000;
    /**
     * The SSD has so much of the image's size: the paper does not say; its largest one for web-vm has 1/35 (§4.5.1).
     */
    private static final int SSD_PART = 40;
    /**
     * Mean run of blocks, not published: so that Dedupe makes about as many disk requests for Centos-5.1 as published.
     */
    private static final double RUN_BLOCKS = 34;
    /** A reader with read-ahead waits for one request while the next one is read. */
    private static final int UNDER_WAY = 2;

    private static final List<Image> IMAGES = List.of(
            new Image("Centos-5.1", 2.7, 0.811),
            new Image("Fedora-12", 3.5, 0.633),
            new Image("FreeBSD-7.0", 1.2, 0.564),
            new Image("Ubuntu-10.10", 1.0, 0.493),
            new Image("OpenSUSE-11.2", 3.4, 0.246));

    private final List<Row> rows;

    /** @param duplicates share of the blocks that deduplication removes */
    private record Image(String name, double gigabytes, double duplicates) {}

    /**
     * A restore.
     *
     * @param image name in the paper's Table III
     * @param gigabytes size of the image, in 10^9 bytes
     * @param duplicates share of its blocks that deduplication removes, as made
     * @param seconds from the first request to the end of the last one
     * @param timesNative seconds divided by those of the system without deduplication
     * @param diskRequests requests that the disks served
     */
    record Row(
            String image,
            double gigabytes,
            double duplicates,
            String system,
            double seconds,
            double timesNative,
            long diskRequests) {}

    private ImageRestores(List<Row> rows) {
        this.rows = rows;
    }

    /**
     * Runs all restores.
     *
     * @param scale part of each image's size, above 0 up to 1
     */
    static ImageRestores run(Machine machine, double scale, long seed, Consumer<Row> progress) throws IOException {
        List<Row> rows = new ArrayList<>();
        for (Image image : IMAGES) {
            long bytes = (long) (image.gigabytes * scale * BYTES_PER_GB);
            int blocks = (int) (bytes / BlockRequest.BLOCK_BYTES);
            double made = new ImageTrace(blocks, image.duplicates, RUN_BLOCKS, seed).duplicates();
            Window window = new Window(ImageTrace.READ_NANOS, 2 * ImageTrace.READ_NANOS);
            Evaluation evaluation = new Evaluation(
                    new Replay.Settings(machine, window, true, 1, ImageTrace.READ_NANOS, UNDER_WAY),
                    () -> new ImageTrace(blocks, image.duplicates, RUN_BLOCKS, seed),
                    THRESHOLD,
                    DedupMap.Counting.EVER);
            double ofNative = 0;
            for (Evaluation.Row row : evaluation.run(
                    List.of(SystemKind.NATIVE, SystemKind.DEDUPE, SystemKind.SAR),
                    List.of(bytes / SSD_PART),
                    each -> {})) {
                // All requests arrive at once: the longest response is that of the whole.
                double seconds = row.result().reads().maxMs() / MILLIS_PER_SECOND;
                ofNative = row.system().equals(SystemKind.NATIVE.label()) ? seconds : ofNative;
                Row found = new Row(
                        image.name,
                        image.gigabytes * scale,
                        made,
                        row.system(),
                        seconds,
                        seconds / ofNative,
                        row.result().disks().requests());
                rows.add(found);
                progress.accept(found);
            }
        }
        return new ImageRestores(rows);
    }

    List<Row> rows() {
        return rows;
    }

    Table table() {
        return Table.of("images", rows);
    }

    Section section() {
        return Section.of(
                "Figures 1 and 12: restores of disk images",
                "Synthetic images with the sizes and ratios of the paper's Table III. The mean run of blocks"
                        + " (136 KiB) gives Dedupe about the published number of disk requests for Centos-5.1; the"
                        + " SSD has 2.5 % of the image. Published: Dedupe 2.9 times Native on average, up to 4.2,"
                        + " SAR 1.6; Centos-5.1: 51, 213 and 77 s.",
                chart(
                        "sar-figure-1",
                        "Figure 1: restores without and with deduplication",
                        List.of(SystemKind.NATIVE, SystemKind.DEDUPE)),
                chart(
                        "sar-figure-12",
                        "Figure 12: restores with SAR",
                        List.of(SystemKind.NATIVE, SystemKind.DEDUPE, SystemKind.SAR)));
    }

    private Chart chart(String name, String title, List<SystemKind> kinds) {
        List<Line> lines = new ArrayList<>();
        for (SystemKind kind : kinds) {
            Line.Builder line = Line.named(kind.label());
            rows.stream()
                    .filter(row -> row.system().equals(kind.label()))
                    .forEach(row -> line.add(row.image(), row.seconds()));
            lines.add(line.build());
        }
        return new Chart(name, title, Axis.names("image"), Axis.linear("seconds"), Chart.Mark.BARS, lines);
    }
}
