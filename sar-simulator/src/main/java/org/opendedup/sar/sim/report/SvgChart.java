package org.opendedup.sar.sim.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jetbrains.letsPlot.core.util.PlotSvgExportCommon;

/**
 * Draws charts with lets-plot: converts a description in maps, as in its Python and Kotlin interfaces, to SVG.
 * lets-plot estimates the width of texts with its own table, so it needs no fonts and no display of the machine.
 */
final class SvgChart {
    private static final int WIDTH = 760;
    private static final int HEIGHT = 380;
    private static final int PANEL_HEIGHT = 240;
    private static final int PANELS_IN_A_ROW = 3;
    private static final int WIDTH_OF_PANELS = 980;
    /**
     * Colours that people with reduced colour vision can distinguish (Okabe and Ito, 2008), without its yellow, which
     * is too light on white.
     */
    private static final List<String> COLOURS = List.of(
            "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31", "#7B4FA3",
            "#A6761D");

    private static final String BOUND_COLOUR = "#808080";

    private static final int MOST_BREAKS = 12;
    /** Largest ratio of the highest values of two panels that share a scale. */
    private static final double MOST_UNLIKE = 3;
    /** Room at both ends of an axis of sizes that double, as a factor. */
    private static final double MARGIN = 1.15;

    private final Chart chart;

    private SvgChart(Chart chart) {
        this.chart = chart;
    }

    /** Returns the chart as a separate document. */
    static String draw(Chart chart) {
        if (!chart.hasPoints()) {
            throw new IllegalArgumentException(chart.name() + " has no points");
        }
        String svg = PlotSvgExportCommon.INSTANCE.buildSvgImageFromRawSpecs(
                new SvgChart(chart).plot(), null, SvgChart::noBitmaps, false);
        return StableSvg.of(svg, chart.name());
    }

    private static String noBitmaps(int width, int height, int[] pixels) {
        throw new AssertionError("a chart of lines and bars has no bitmaps");
    }

    private Map<String, Object> plot() {
        Map<String, Object> plot = map(
                "kind", "plot", "data", data(), "mapping", mapping(), "layers", layers(), "scales", scales(), "ggsize",
                size());
        plot.put("ggtitle", map("text", chart.title()));
        plot.put("theme", map("plot_background", map("name", "rect", "fill", "#FFFFFF", "color", "#FFFFFF")));
        if (hasPanels()) {
            plot.put(
                    "facet",
                    map(
                            "name",
                            "wrap",
                            "facets",
                            list(List.of("panel")),
                            "ncol",
                            columns(),
                            "order",
                            list(List.of(1)),
                            "dir",
                            "h",
                            "scales",
                            scalesOfPanels()));
        }
        return plot;
    }

    private boolean hasPanels() {
        return chart.panels().size() > 1;
    }

    private int columns() {
        return chart.panels().size() == 4
                ? 2
                : Math.min(PANELS_IN_A_ROW, chart.panels().size());
    }

    /**
     * Returns the scale option of the panels: one scale, for comparison, unless the lines of a panel would then be too
     * low.
     */
    private String scalesOfPanels() {
        List<Double> highest = chart.panels().stream()
                .map(panel -> chart.lines().stream()
                        .filter(line -> line.panel().equals(panel))
                        .flatMap(line -> line.points().stream())
                        .mapToDouble(Line.Point::y)
                        .max()
                        .orElse(0))
                .toList();
        boolean isUnlike = Collections.max(highest) > MOST_UNLIKE * Collections.min(highest);
        return isUnlike && chart.y().scale() == Axis.Scale.LINEAR ? "free_y" : "fixed";
    }

    private Map<String, Object> size() {
        int rows = (chart.panels().size() + columns() - 1) / columns();
        return hasPanels()
                ? map("width", WIDTH_OF_PANELS, "height", rows * PANEL_HEIGHT + PANEL_HEIGHT / 2)
                : map("width", WIDTH, "height", HEIGHT);
    }

    private Map<String, Object> data() {
        return map(
                "x", column(point -> chart.x().scale() == Axis.Scale.NAMES ? point.label() : (Object) point.x()),
                "y", column(Line.Point::y),
                "line", repeated(Line::name),
                "panel", repeated(this::lettered));
    }

    private List<Object> column(Function<Line.Point, Object> value) {
        return list(chart.lines().stream()
                .flatMap(line -> line.points().stream())
                .map(value)
                .toList());
    }

    private List<Object> repeated(Function<Line, String> value) {
        return list(chart.lines().stream()
                .flatMap(line -> line.points().stream().map(point -> value.apply(line)))
                .toList());
    }

    /**
     * Adds a letter to a panel's name, as in papers: lets-plot sorts panels by name, and the letter keeps our order.
     */
    private String lettered(Line line) {
        return "(" + (char) ('a' + chart.panels().indexOf(line.panel())) + ") " + line.panel();
    }

    private Map<String, Object> mapping() {
        Map<String, Object> mapping = map("x", "x", "y", "y");
        if (chart.mark() == Chart.Mark.BARS) {
            mapping.put("fill", "line");
        } else {
            mapping.put("color", "line");
            mapping.put("linetype", "line");
            mapping.put("group", "line");
        }
        return mapping;
    }

    private List<Object> layers() {
        Map<String, Object> lines = map("geom", "line", "size", 0.9, "tooltips", "none");
        return switch (chart.mark()) {
            case LINES -> list(List.of(lines));
            case DOTS -> list(List.of(lines, map("geom", "point", "size", 2.2, "tooltips", "none")));
            case BARS ->
                list(List.of(
                        map("geom", "bar", "stat", "identity", "position", "dodge", "width", 0.8, "tooltips", "none")));
        };
    }

    private List<Object> scales() {
        List<Object> scales = list(
                List.of(scale("x", chart.x(), values(Line.Point::x)), scale("y", chart.y(), values(Line.Point::y))));
        if (chart.mark() == Chart.Mark.BARS) {
            scales.add(perLine("fill", this::colour));
        } else {
            scales.add(perLine("color", this::colour));
            scales.add(perLine("linetype", name -> isBound(name) ? "dashed" : "solid"));
        }
        return scales;
    }

    private Map<String, Object> scale(String aesthetic, Axis axis, List<Double> values) {
        Map<String, Object> scale = map("aesthetic", aesthetic, "name", axis.title());
        switch (axis.scale()) {
            case LINEAR -> {
                if (aesthetic.equals("y")) {
                    scale.put("limits", Arrays.asList(Math.min(0, values.get(0)), null));
                } else {
                    breakAt(scale, values);
                }
            }
            case LOG2 -> {
                scale.put("trans", "log2");
                // The room is a factor of the least and the greatest value: lets-plot would add it before it takes
                // logarithms.
                scale.put("expand", list(List.of(0.0, 0.0)));
                scale.put("limits", list(List.of(values.get(0) / MARGIN, values.get(values.size() - 1) * MARGIN)));
                breakAt(scale, values);
            }
            case LOG10 -> {
                scale.put("trans", "log10");
                breakAt(scale, LogBreaks.of(values));
            }
            case NAMES -> scale.put("discrete", true);
        }
        return scale;
    }

    /** Sets breaks, if there are few; otherwise lets-plot chooses. */
    private static void breakAt(Map<String, Object> scale, List<Double> breaks) {
        if (breaks.size() <= MOST_BREAKS) {
            scale.put("breaks", list(breaks));
            scale.put("labels", list(breaks.stream().map(Numbers::text).toList()));
        }
    }

    private List<Double> values(ToDoubleFunction<Line.Point> coordinate) {
        return chart.lines().stream()
                .flatMap(line -> line.points().stream())
                .map(coordinate::applyAsDouble)
                .distinct()
                .sorted()
                .toList();
    }

    private Map<String, Object> perLine(String aesthetic, Function<String, Object> value) {
        List<String> names = chart.names();
        return map(
                "aesthetic",
                aesthetic,
                "discrete",
                true,
                "name",
                "",
                "limits",
                list(names),
                "values",
                list(names.stream().map(value).toList()));
    }

    private boolean isBound(String name) {
        return chart.lines().stream()
                .anyMatch(line -> line.isBound() && line.name().equals(name));
    }

    private Object colour(String name) {
        List<String> unbound =
                chart.names().stream().filter(each -> !isBound(each)).toList();
        return isBound(name) ? BOUND_COLOUR : COLOURS.get(unbound.indexOf(name) % COLOURS.size());
    }

    /** Makes a map that can be changed, because lets-plot changes its arguments. */
    private static Map<String, Object> map(Object... keysAndValues) {
        Map<String, Object> map = new HashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return map;
    }

    private static List<Object> list(List<?> values) {
        return new ArrayList<>(values);
    }
}
