package org.opendedup.sar.sdfs.metrics;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the text format of Prometheus, version 0.0.4, and checks what the format and promtool's linter ask for: one
 * HELP and TYPE before the samples of a metric, all of them together, names and base units, {@code _total} for counters
 * and nothing else, buckets that do not shrink.
 *
 * @param types of the metrics, by their names
 * @param values of the samples, by their names and labels as they are written
 */
public record PrometheusSamples(Map<String, String> types, Map<String, Double> values) {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9]*(_[a-z0-9]+)*");
    private static final Pattern SAMPLE =
            Pattern.compile("([a-z_0-9]+)\\{((?:[a-z_]+=\"(?:[^\"\\\\\n]|\\\\[\\\\\"n])*\",?)*)} (\\S+)");
    private static final Set<String> NO_BASE_UNITS =
            Set.of("milliseconds", "microseconds", "micros", "millis", "kilobytes", "minutes", "hours", "percent");

    /** @throws AssertionError if the text is not as it must be; names the line */
    public static PrometheusSamples parse(String text) {
        var samples = new PrometheusSamples(new LinkedHashMap<>(), new LinkedHashMap<>());
        if (!text.endsWith("\n")) {
            throw new AssertionError("the last line has no end");
        }
        String helped = "";
        String metric = "";
        for (String line : text.split("\n")) {
            String[] words = line.split(" ", 4);
            if (line.startsWith("# HELP ")) {
                helped = words[2];
                check(words.length == 4 && !words[3].isBlank(), line);
            } else if (line.startsWith("# TYPE ")) {
                metric = words[2];
                check(metric.equals(helped), line);
                check(samples.types.put(metric, words[3]) == null, "twice: " + line);
                samples.checkName(metric, words[3], line);
            } else {
                samples.add(metric, line);
            }
        }
        samples.checkBuckets();
        return samples;
    }

    private static void check(boolean holds, String line) {
        if (!holds) {
            throw new AssertionError(line);
        }
    }

    private void checkName(String metric, String type, String line) {
        check(NAME.matcher(metric).matches(), line);
        check(Set.of("counter", "gauge", "histogram").contains(type), line);
        check(metric.endsWith("_total") == type.equals("counter"), line);
        Set<String> words = new HashSet<>(List.of(metric.split("_")));
        words.retainAll(NO_BASE_UNITS);
        check(words.isEmpty(), line);
        check(!metric.matches(".*_(count|sum|bucket|info|gauge|counter)") || metric.endsWith("build_info"), line);
    }

    private void add(String metric, String line) {
        Matcher sample = SAMPLE.matcher(line);
        check(sample.matches(), line);
        String own = sample.group(1);
        boolean isOfHistogram =
                "histogram".equals(types.get(metric)) && own.matches(Pattern.quote(metric) + "_(bucket|sum|count)");
        check(own.equals(metric) || isOfHistogram, line);
        check(sample.group(2).startsWith("volume=\""), line);
        check(
                values.put(
                                own + "{" + sample.group(2) + "}",
                                Double.valueOf(sample.group(3).replace("+Inf", "Infinity")))
                        == null,
                "twice: " + line);
    }

    private void checkBuckets() {
        types.forEach((metric, type) -> {
            if (type.equals("histogram")) {
                double before = 0;
                for (Map.Entry<String, Double> sample : values.entrySet()) {
                    if (sample.getKey().startsWith(metric + "_bucket{")) {
                        check(sample.getValue() >= before, sample.toString());
                        before = sample.getKey().contains("le=\"+Inf\"") ? 0 : sample.getValue();
                    }
                }
            }
        });
    }

    /** Returns the value of a sample, by its name and its labels but the volume, as they are written. */
    public double value(String name, String labels) {
        for (Map.Entry<String, Double> sample : values.entrySet()) {
            String key = sample.getKey().replaceFirst("volume=\"(?:[^\"\\\\]|\\\\.)*\",?", "");
            if (key.equals(name + "{" + labels + "}")) {
                return sample.getValue();
            }
        }
        throw new AssertionError("no " + name + "{" + labels + "} in " + values.keySet());
    }

    /** Returns the names of all series: those of metrics, and of the parts of histograms. */
    public Set<String> names() {
        Set<String> names = new HashSet<>();
        List<String> keys = new ArrayList<>(values.keySet());
        keys.forEach(key -> names.add(key.substring(0, key.indexOf('{'))));
        return names;
    }
}
