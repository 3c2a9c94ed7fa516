package org.opendedup.sar.sdfs.metrics;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.common.LatencyBuckets;

/**
 * The figures of one volume in the text format of Prometheus, version 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). A metric is called after the record's component that
 * is declared as its {@link Figure}: words with underscores, base units at the end, {@code _total} after a counter.
 * Each sample has the label {@code volume}.
 */
public final class PrometheusText {
    /** The media type of the text. */
    public static final String MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final String PREFIX = "sdfs_";

    /** Units of texts that are one of a few words; such a text becomes a label of a metric that is 1. */
    private static final String WORD = "name";

    /** Numbers that measure nothing. */
    private static final Set<String> NO_MEASURES = Set.of("process id");

    private static final double PERCENT = 100;
    private static final double MICROS_PER_SECOND = 1e6;
    private static final int NANO_DIGITS = 9;

    private final Map<String, Family> families = new LinkedHashMap<>();
    private final String volume;

    /** All samples of a metric, which must follow one another. */
    private record Family(String help, String type, StringBuilder samples) {}

    public PrometheusText(String volume) {
        this.volume = volume;
    }

    /** Adds the figures of a record, and those of records within it. */
    public PrometheusText figures(Record record) {
        return figures("", record);
    }

    /** As {@link #figures(Record)}; the names begin with a word that says what the record is about. */
    public PrometheusText figures(String about, Record record) {
        String before = about.isEmpty() ? "" : about + "_";
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            Figure figure = component.getAnnotation(Figure.class);
            Object value = valueOf(component, record);
            if (component.getAccessor().isAnnotationPresent(JsonUnwrapped.class)) {
                figures(about, (Record) value);
            } else if (value instanceof Record section && figure == null) {
                figures(before + snake(component.getName()), section);
            } else if (figure != null && !(value instanceof Record)) {
                String own = figure.name().isEmpty() ? component.getName() : figure.name();
                boolean isWord = figure.unit().equals(WORD) && !own.equals(WORD);
                add(before + snake(own), figure, value, isWord);
            }
        }
        return this;
    }

    private static Object valueOf(RecordComponent component, Record record) {
        try {
            return component.getAccessor().invoke(record);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(component + " cannot be read", e);
        }
    }

    /** @param isWord whether a text is one of a few words; not so the name of the volume, which is a label */
    private void add(String name, Figure figure, Object value, boolean isWord) {
        if (value instanceof Number number && !NO_MEASURES.contains(figure.unit())) {
            boolean isPercentage = figure.unit().equals("percent");
            String measured = isPercentage ? name.replaceFirst("(_percent)?$", "_ratio") : name;
            double one = isPercentage ? PERCENT : 1;
            String text = number instanceof Double || isPercentage
                    ? decimal(number.doubleValue() / one)
                    : Long.toString(number.longValue());
            put(measured + (figure.counter() ? "_total" : ""), figure.value(), figure.counter(), text, Map.of());
        } else if (value instanceof Boolean flag) {
            put(name, figure.value(), false, flag ? "1" : "0", Map.of());
        } else if (value instanceof String word && isWord) {
            put(name, figure.value(), false, "1", Map.of(name.substring(name.lastIndexOf('_') + 1), word));
        }
    }

    /** Adds a sample of a metric that may grow and shrink. */
    public PrometheusText gauge(String name, String help, double value, Map<String, String> labels) {
        put(name, help, false, decimal(value), labels);
        return this;
    }

    private void put(String name, String help, boolean isCounter, String value, Map<String, String> labels) {
        sample(family(name, help, isCounter ? "counter" : "gauge"), PREFIX + name, labels, value);
    }

    private StringBuilder family(String name, String help, String type) {
        Family family = families.computeIfAbsent(PREFIX + name, any -> new Family(help, type, new StringBuilder()));
        if (!family.type.equals(type)) {
            throw new IllegalArgumentException(PREFIX + name + " is a " + family.type + ", not a " + type);
        }
        return family.samples;
    }

    /**
     * Adds a histogram of durations.
     *
     * @param name ends in {@code _seconds}
     * @param label the label that distinguishes this histogram from others of the metric
     */
    public PrometheusText histogram(
            String name, String help, String label, String value, LatencyBuckets.Counts counts) {
        StringBuilder samples = family(name, help, "histogram");
        List<Long> bounds = LatencyBuckets.boundsMicros();
        long below = 0;
        for (int bucket = 0; bucket < counts.counts().size(); bucket++) {
            below += counts.counts().get(bucket);
            String bound = bucket < bounds.size() ? decimal(bounds.get(bucket) / MICROS_PER_SECOND) : "+Inf";
            Map<String, String> labels = new LinkedHashMap<>();
            labels.put(label, value);
            labels.put("le", bound);
            sample(samples, PREFIX + name + "_bucket", labels, Long.toString(below));
        }
        String seconds = BigDecimal.valueOf(counts.sumNanos(), NANO_DIGITS).toPlainString();
        sample(samples, PREFIX + name + "_sum", Map.of(label, value), seconds);
        sample(samples, PREFIX + name + "_count", Map.of(label, value), Long.toString(below));
        return this;
    }

    private void sample(StringBuilder to, String name, Map<String, String> labels, String value) {
        to.append(name).append("{volume=\"").append(escaped(volume)).append('"');
        labels.forEach((label, text) ->
                to.append(',').append(label).append("=\"").append(escaped(text)).append('"'));
        to.append("} ").append(value).append('\n');
    }

    /** Returns a value of a label, which may hold any character. */
    private static String escaped(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    private static String decimal(double value) {
        return Double.isFinite(value)
                ? BigDecimal.valueOf(value).stripTrailingZeros().toPlainString()
                : Double.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
    }

    /** Returns a name in camel case as words in lower case, with underscores between them. */
    static String snake(String camel) {
        return camel.replaceAll("(?<=[a-z0-9])([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }

    /** Returns the whole text. */
    public String text() {
        var text = new StringBuilder();
        families.forEach((name, family) -> text.append("# HELP ")
                .append(name)
                .append(' ')
                .append(family.help.replace("\\", "\\\\").replace("\n", "\\n"))
                .append("\n# TYPE ")
                .append(name)
                .append(' ')
                .append(family.type)
                .append('\n')
                .append(family.samples));
        return text.toString();
    }
}
