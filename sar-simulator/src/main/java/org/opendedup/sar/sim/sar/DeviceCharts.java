package org.opendedup.sar.sim.sar;

import java.util.List;
import java.util.function.ToDoubleFunction;
import org.opendedup.sar.sim.device.Machine;
import org.opendedup.sar.sim.device.RequestSizes;
import org.opendedup.sar.sim.report.Axis;
import org.opendedup.sar.sim.report.Chart;
import org.opendedup.sar.sim.report.Line;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;

/** The SAR paper's Figure 3: reads of an SSD and of a disk by the size of the requests. */
final class DeviceCharts {
    private static final int KIB = 1 << 10;

    private final List<RequestSizes.Row> rows;

    DeviceCharts(Machine machine) {
        rows = RequestSizes.measure(machine);
    }

    Table table() {
        return Table.of("devices", rows);
    }

    Section section() {
        return Section.of(
                "Figure 3: SSD and disk",
                "One request at a time, on the models of the paper's devices. Published for 4 KiB: 13.29 and 0.060 ms;"
                        + " in sequence the SSD is about twice as fast.",
                chart("sar-figure-3a", "Figure 3(a): random reads", Axis.log10("ms"), RequestSizes.Row::randomMillis),
                chart(
                        "sar-figure-3b",
                        "Figure 3(b): sequential reads",
                        Axis.linear("MB/s"),
                        RequestSizes.Row::sequentialMbPerSecond));
    }

    private Chart chart(String name, String title, Axis y, ToDoubleFunction<RequestSizes.Row> value) {
        List<Line> lines = List.of(line("disk", value), line("ssd", value));
        return new Chart(name, title, Axis.log2("request, KiB"), y, Chart.Mark.DOTS, lines);
    }

    private Line line(String device, ToDoubleFunction<RequestSizes.Row> value) {
        Line.Builder line = Line.named(device);
        rows.stream()
                .filter(row -> row.device().equals(device))
                .forEach(row -> line.add((double) row.requestBytes() / KIB, value.applyAsDouble(row)));
        return line.build();
    }
}
